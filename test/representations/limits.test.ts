import t from 'tap'
import { keyPrefix } from '../../http/masked-names.ts'
import { build } from '../build.ts'

const html = { accept: 'text/html' } as const
const shop = await build(t)
const seller = await shop.key('Seller', 'order', 'fulfilment')

async function pageAt(url: string): Promise<string> {
  const { statusCode, body } = await shop.app.inject({ url, headers: { ...html, ...seller } })
  t.equal(statusCode, 200, url)
  return body
}

/** The most characters that a browser lets a person type into a field. */
function longest(page: string, name: string): number {
  return Number(new RegExp(` name="${name}"[^>]* maxlength="(\\d+)"`).exec(page)?.[1])
}

for (const [url, name] of [
  ['/', 'q'],
  ['/products', 'q'],
  ['/orders', 'customer'],
  ['/orders', 'order-number']
] as const) {
  t.test(`the field ${name} of ${url} takes as many characters as the service does`, async (t) => {
    const most = longest(await pageAt(url), name)
    const list = url === '/' ? '/products' : url
    const statusOf = async (length: number) =>
      (await shop.app.inject({ url: `${list}?${name}=${'a'.repeat(length)}`, headers: seller })).statusCode
    t.same([await statusOf(most), await statusOf(most + 1)], [200, 400])
  })
}

t.test('the address of a webhook can be as long as the service takes', async (t) => {
  const most = longest(await pageAt('/webhooks'), 'url')
  const refusalOf = async (length: number) => {
    const url = 'https://erp.example/'.padEnd(length, 'a')
    const answer = await shop.app.inject({
      method: 'POST',
      url: '/webhooks',
      headers: {
        ...seller,
        accept: 'application/json',
        'content-type': 'application/json',
        'idempotency-key': `webhook-of-${length}-chars`
      },
      payload: { url }
    })
    return String(answer.json().errors?.[0]?.detail ?? '')
  }
  t.match(await refusalOf(most + 1), /length|characters|long/i)
  t.notMatch(await refusalOf(most), /length|characters|long/i)
})

t.test('the sign-in page and the documentation say how a key begins, and how long a sign-in lasts', async (t) => {
  const { body } = await shop.app.inject({ url: '/session', headers: html })
  const { authorization } = seller
  const signedIn = await shop.app.inject({
    method: 'POST',
    url: '/session',
    headers: { ...html, 'content-type': 'application/x-www-form-urlencoded' },
    payload: `key=${authorization.replace('Bearer ', '')}`
  })
  const age = Number(/max-age=(\d+)/i.exec(String(signedIn.headers['set-cookie']))?.[1])
  t.ok(body.includes(`It starts with ${keyPrefix}. You stay signed in for up to ${age / 3600} hours`))
  t.ok((await pageAt('/docs')).includes(`Bearer ${keyPrefix}…`))
})
