import t, { type Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { build, form, type Shop } from '../build.ts'
import { stopClock } from '../stopped-clock.ts'
import { hidden, html, post } from './form-post.ts'

/** The calls of the store's reads of products, as `verb of what was asked for`. */
function readsOf(t: Test, { store }: Shop): readonly string[] {
  const reads: string[] = []
  for (const verb of ['product', 'products', 'productsCoded', 'productNames'] as const) {
    const read = store[verb] as (given: unknown) => unknown
    t.intercept(store, verb, {
      value: (given: unknown) => {
        reads.push(Array.isArray(given) ? `${verb} of ${given.length}` : verb)
        return read(given)
      }
    })
  }
  return reads
}

/** The fields of lines of these products. */
function linesOf(codes: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    codes.flatMap((code, i) => [
      [`item.${i + 1}.product-id`, code],
      [`item.${i + 1}.quantity`, '1']
    ])
  )
}

t.test('the products of all lines of a form are read at once', async (t) => {
  const ids = Array.from({ length: 150 }, (_, i) => `P-${1000 + i}`)
  const shop = await build(t, { products: Object.fromEntries(ids.map((id) => [id, {}])) })
  const reads = readsOf(t, shop)
  const named = ids.slice(-100)
  const { body } = await shop.app.inject({ url: `/order?${named.map((id) => `product=${id}`).join('&')}`, headers: html })
  t.same([...reads].sort(), ['productNames', 'productsCoded of 100'])
  t.equal(body.match(/<bdi>Hex bolt<\/bdi>, €9\.99 each/g)?.length, 100, 'each line has its name and price')
  const offered = [...body.matchAll(/<option value="([^"]+)">/g)].map(([, id]) => id)
  t.same(offered.sort(), ids, 'the first products of the shop and those of the lines are offered, each once')
})

t.test('the product of a barcode is found however many others a search for it would find, and is no search', async (t) => {
  const gtin = '4006381333931'
  const others = Array.from({ length: 60 }, (_, i) => [`A-${i}`, { name: `Case for ${gtin}` }])
  const shop = await build(t, { products: { ...Object.fromEntries(others), 'Z-1': { gtin } }, settings: { RATE_LIMIT: '100' } })
  const reads = readsOf(t, shop)
  const answer = await post(shop.app, '/order', { ...linesOf([gtin, 'A-1', gtin]), _more: '0' })
  t.equal(answer.statusCode, 200)
  t.same(
    [1, 2, 3].map((i) => hidden(answer.body, `item.${i}.product-id`)),
    ['Z-1', 'A-1', 'Z-1']
  )
  t.same([...reads].sort(), ['productNames', 'productsCoded of 1', 'productsCoded of 2'])
  t.match(answer.headers['ratelimit'], /r=99;/, 'it counts as one request')
})

t.test('a form is shown with what was typed when the products cannot be read', async (t) => {
  const shop = await build(t)
  t.intercept(shop.store, 'productsCoded', { value: async () => Promise.reject(new Error('gone')) })
  const answer = await post(shop.app, '/order', { ...linesOf(['4006381333931', 'a\0b']), _more: '0' })
  t.equal(answer.statusCode, 200)
  t.equal(hidden(answer.body, 'item.1.product-id'), '4006381333931')
})

/** Lets the store refuse so many orders at the same moment, like one that loses its database. */
function refusedTogether(t: Test, { store }: Shop, count: number): void {
  const waiting: (() => void)[] = []
  const refuse = async () => {
    await new Promise<void>((resolve) => {
      if (waiting.push(resolve) === count) for (const go of waiting) go()
    })
    throw new DomainError('store-unavailable', 'The database is out of reach.')
  }
  t.intercept(store, 'placeOrder', { value: refuse })
}

for (const slow of ['given their products', 'written'] as const) {
  t.test(`while the forms of one address wait to be ${slow}, another address is answered`, async (t) => {
    const clock = stopClock(t)
    const shop = await build(t)
    const forms = 20
    refusedTogether(t, shop, forms)
    let done = 0
    let other: Promise<number> | undefined
    /** One form takes all the time that there is in a turn of the event loop. */
    const work = () => {
      done += 1
      clock.pass(20)
      other ??= shop.app.inject({ url: '/schemas/purchase-order.xsd', remoteAddress: '192.0.2.2' }).then(() => done)
    }
    const { productsCoded } = shop.store
    const find = async (codes: readonly string[]) => {
      if (slow === 'given their products') work()
      const found = await productsCoded(codes)
      return found.map((product) => ({
        ...product,
        get unit() {
          if (slow === 'written') work()
          return product.unit
        }
      }))
    }
    t.intercept(shop.store, 'productsCoded', { value: find })
    const payload = new URLSearchParams(linesOf(['ABC-1'])).toString()
    const headers = { ...html, ...form }
    const send = () => shop.app.inject({ method: 'POST', url: '/order', headers, payload, remoteAddress: '192.0.2.1' })
    const answers = await Promise.all(Array.from({ length: forms }, send))
    t.ok(answers.every(({ statusCode, body }) => statusCode === 503 && body.includes('Hex bolt')))
    t.ok(done >= forms)
    const before = await other
    t.ok(before !== undefined && before < forms / 2, `answered after ${before} of ${done}`)
  })
}
