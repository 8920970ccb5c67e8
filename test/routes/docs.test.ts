import t from 'tap'
import { problemTypes } from '../../http/problem-types.ts'
import type { ApiDescription } from '../../representations/api-description.ts'
import { build } from '../build.ts'

for (const BASE_URL of ['/', '/shop']) {
  t.test(`under ${BASE_URL} the page shows every operation, document and problem type, and its links lead somewhere`, async (t) => {
    const { app, config } = await build(t, { settings: { BASE_URL } })
    const base = config.BASE_URL.path
    const answer = await app.inject({ url: `${base}/docs`, headers: { accept: 'text/html' } })
    t.equal(answer.statusCode, 200)
    const page = answer.body
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? '')
    t.equal(new Set(ids).size, ids.length, 'ids are there once')
    const description = (await app.inject(`${base}/openapi.json`)).json<ApiDescription>()
    for (const { get, post, put, delete: remove } of Object.values(description.paths)) {
      for (const operation of [get, post, put, remove]) {
        // What only pages post is not for developers.
        const reads = Object.keys(operation?.requestBody?.content ?? {})
        if (operation && reads.length !== 1) t.ok(ids.includes(operation.operationId), operation.operationId)
      }
    }
    for (const code of Object.keys(problemTypes)) t.ok(ids.includes(code), code)
    const links = new Set([...page.matchAll(/ href="([^"]+)"/g)].map(([, href]) => (href ?? '').replaceAll('&amp;', '&')))
    for (const link of links) {
      if (link.startsWith('#')) t.ok(ids.includes(link.slice(1)), link)
      else {
        t.match(link, /^\/(?!\/)/, `${link} is here`)
        const { statusCode } = await app.inject({ url: link, headers: { accept: 'text/html, */*;q=0.1' } })
        t.ok(statusCode === 200 || (link === `${base}/orders` && statusCode === 401), `${link} ${statusCode}`)
      }
    }
    for (const text of ['item/quantity/@unit', `SHOP=https://HOST${base}\n`]) t.ok(page.includes(text), text)
  })
}

t.test('the examples go to the address that BASE_URL has, and never to one that nobody set', async (t) => {
  const hosts = [{ host: 'a.example' }, { host: 'b.example' }]
  for (const [BASE_URL, shop] of [
    ['https://shop.example/b2b', 'https://shop.example/b2b'],
    ['/b2b', 'https://HOST/b2b']
  ] as const) {
    await t.test(BASE_URL, async (t) => {
      const { app } = await build(t, { settings: { BASE_URL } })
      const pages = await Promise.all(hosts.map(async (headers) => (await app.inject({ url: '/b2b/docs', headers })).body))
      t.ok(pages[0]?.includes(`SHOP=${shop}\n`))
      t.notMatch(pages[0], 'localhost')
      t.equal(pages[0], pages[1], 'one body for every host: it is cached')
      const { servers } = (await app.inject('/b2b/openapi.json')).json<ApiDescription>()
      t.equal(servers[0]?.url, shop.replace('https://HOST', ''))
    })
  }
})

t.test('the page needs nothing from elsewhere, no script of its own and no inline style', async (t) => {
  const { app } = await build(t)
  const { body, headers } = await app.inject({ url: '/docs', headers: { accept: 'text/html' } })
  t.strictSame(body.match(/(?:src|href)="(?:https?:)?\/\/|<script| style=|<style| on[a-z]+=/g), null)
  t.notMatch(String(headers['content-security-policy']), 'unsafe-inline')
  t.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes`)
})

t.test('the page is cached as the catalogue is, and revalidated (RFC 9110 section 13.1.2)', async (t) => {
  const { app } = await build(t)
  const answer = await app.inject('/docs')
  t.match(answer.headers['cache-control'], /^public, max-age=/)
  const again = await app.inject({ url: '/docs', headers: { 'if-none-match': String(answer.headers['etag']) } })
  t.equal(again.statusCode, 304)
  t.equal((await app.inject({ url: '/docs', headers: { accept: 'application/json' } })).statusCode, 406)
})
