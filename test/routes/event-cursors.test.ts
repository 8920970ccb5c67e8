import t from 'tap'
import { startCursor } from '../../domain/event-start.ts'
import { connectWriter } from '../../stores/sqlite/connection.ts'
import { build, type Shop } from '../build.ts'
import { execute } from '../stores/embedded.ts'
import { json, place } from './feed.ts'

const day = 24 * 60 * 60 * 1000
const keep = 30 * day

async function read({ app }: Shop, url: string, headers: Readonly<Record<string, string>>) {
  const response = await app.inject({ url, headers: { ...json, ...headers } })
  const { event = [] } = response.json() as { readonly event?: readonly { readonly resource: string }[] }
  const next = /<([^>]*)>; rel="next"/.exec(String(response.headers.link))?.[1] ?? ''
  return { ...response, statusCode: response.statusCode, headers: response.headers, resources: event.map(({ resource }) => resource), next }
}

t.test('the next link of a reader who has heard nothing finds all that happens later', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const { next } = await read(shop, '/events?type=order-placed&limit=2', erp)
  t.match(next, /^\/events\?type=order-placed&limit=2&after=/)
  const empty = await read(shop, next, erp)
  t.same([empty.statusCode, empty.resources, empty.next], [200, [], next])
  const orders = [await place(shop), await place(shop), await place(shop)]
  const first = await read(shop, next, erp)
  t.same(first.resources, orders.slice(0, 2))
  t.equal(first.headers['cache-control'], 'private, no-cache', 'the oldest events can be deleted')
  t.same((await read(shop, first.next, erp)).resources, orders.slice(2))
})

t.test('a cursor of a reader who has heard nothing expires before events that it has not heard are deleted', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  await place(shop)
  const at = (age: number) => `/events?type=order-placed&after=${startCursor(Date.now() - age, keep)}`
  t.equal((await read(shop, at(keep / 4), erp)).statusCode, 200)
  for (const age of [keep * 0.7, keep, 1_000 * day, -keep]) {
    const gone = await read(shop, at(age), erp)
    t.equal(gone.statusCode, 410, `${age / day} days old`)
    t.same((await read(shop, gone.next, erp)).statusCode, 200)
  }
  t.equal((await read(shop, at(keep).replace('order-placed', 'order-shipped'), erp)).statusCode, 410, 'also with nothing to show')
  const gone = await read(shop, at(keep).replace('order-placed', 'order-shipped'), erp)
  t.same((await read(shop, gone.next, erp)).resources, [], 'a reader who still hears nothing gets a cursor too')
  t.match(gone.next, /&after=/)
})

t.test('the cursor of a customer who has heard nothing tells nothing of the orders of others', async (t) => {
  const shop = await build(t)
  const [acme, other] = [await shop.key('acme', 'order'), await shop.key('other', 'order')]
  const url = '/events?type=order-placed'
  const { etag } = (await read(shop, url, acme)).headers
  await place(shop, other)
  await place(shop)
  const again = await shop.app.inject({ url, headers: { ...json, ...acme, 'if-none-match': String(etag) } })
  t.equal(again.statusCode, 304)
})

t.test('a 304 of the page for people has the tag of the page, and the tag holds as a condition', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const get = (headers: Readonly<Record<string, string>>) =>
    shop.app.inject({ url: '/events', headers: { ...erp, accept: 'text/html', ...headers } })
  const etag = String((await get({})).headers.etag)
  const again = await get({ 'if-none-match': etag })
  t.same([again.statusCode, again.headers.etag], [304, etag])
  t.equal((await get({ 'if-match': etag })).statusCode, 200)
})

/** Makes the shop's second event old, as a clock that was set back after the first one does. */
async function ageSecondEvent({ config }: Shop): Promise<void> {
  const url = config.DATABASE_URL
  const statement = 'UPDATE event SET at = 1 WHERE position = 2'
  if (!url.startsWith('sqlite:')) return void (await execute(url, statement))
  const db = connectWriter(url.slice('sqlite:'.length))
  db.exec(statement)
  db.close()
}

t.test('no event is missing after a cursor, also when the clock was set back', async (t) => {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  for (const _ of [1, 2, 3]) await place(shop)
  const { next } = await read(shop, '/events?limit=1', erp)
  await ageSecondEvent(shop)
  t.equal(await shop.store.pruneEvents(2, 100), 2, 'an event goes with a later one that is old')
  t.equal((await read(shop, next, erp)).statusCode, 410)
  t.equal((await read(shop, '/events', erp)).resources.length, 3)
})
