import t from 'tap'
import { problemTypes } from '../../http/problem-types.ts'
import type { ApiDescription } from '../../representations/api-description.ts'
import { build } from '../build.ts'
import { operationsOf } from './api-walk.ts'

type Shop = Awaited<ReturnType<typeof build>>

interface Page {
  readonly body: string
  readonly ids: readonly string[]
  readonly links: readonly string[]
}

const attributes = (body: string, name: string) =>
  [...body.matchAll(new RegExp(` ${name}="([^"]+)"`, 'g'))].map(([, value = '']) => value.replaceAll('&amp;', '&'))

/** Every page of the documentation by its URI: the first one, and that of every tag. */
async function pagesOf({ app, config }: Shop): Promise<ReadonlyMap<string, Page>> {
  const first = `${config.BASE_URL.path}/docs`
  const { tags } = await app.apiDescription()
  const pages = new Map<string, Page>()
  for (const url of [first, ...tags.map(({ name }) => `${first}/${name.toLowerCase()}`)]) {
    const { body, statusCode } = await app.inject({ url, headers: { accept: 'text/html' } })
    if (statusCode !== 200) throw new Error(`${url} is ${statusCode}`)
    pages.set(url, { body, ids: attributes(body, 'id'), links: [...new Set(attributes(body, 'href'))] })
  }
  return pages
}

/** Operations that only pages post to are not for developers. */
function shownOperations(description: ApiDescription) {
  return operationsOf(description).filter(
    ({ method, operation }) => method !== 'head' && method !== 'options' && Object.keys(operation.requestBody?.content ?? {}).length !== 1
  )
}

for (const BASE_URL of ['/', '/shop']) {
  t.test(`documentation under ${BASE_URL}`, async (t) => {
    const shop = await build(t, { settings: { BASE_URL } })
    const { app, config } = shop
    const base = config.BASE_URL.path
    const docs = `${base}/docs`
    const pages = await pagesOf(shop)
    const description = await app.apiDescription()

    t.test('every operation is described on the page of its tag, and the first page leads there', async (t) => {
      const first = pages.get(docs)
      for (const { operation, method, path } of shownOperations(description)) {
        const url = `${docs}/${operation.tags[0]?.toLowerCase()}`
        const id = operation.operationId
        const described = [...pages].filter(([, { body }]) => body.includes(`<h3 id="${id}">`)).map(([one]) => one)
        t.strictSame(described, [url], id)
        t.match(pages.get(url)?.body, `<code>${method.toUpperCase()} ${path}</code>`)
        t.ok(first?.ids.includes(id), `${docs}#${id}`)
        t.ok(first?.links.includes(`${url}#${id}`), `${url}#${id}`)
      }
      for (const { name } of description.tags) t.ok(first?.ids.includes(name), `${docs}#${name}`)
    })

    t.test('every document that an operation reads is described on the same page, and the first page leads there', async (t) => {
      for (const { operation } of shownOperations(description)) {
        const { schema } = operation.requestBody?.content['application/xml'] ?? {}
        if (typeof schema?.['$ref'] !== 'string') continue
        const component = description.components.schemas[schema['$ref'].split('/').at(-1) ?? ''] as { xml: { name: string } }
        const id = `document-${component.xml.name}`
        const url = `${docs}/${operation.tags[0]?.toLowerCase()}`
        t.ok(pages.get(url)?.ids.includes(id), `${url}#${id}`)
        t.ok(pages.get(docs)?.ids.includes(id), `${docs}#${id}`)
        t.ok(pages.get(docs)?.links.includes(`${url}#${id}`), `a link to ${url}#${id}`)
      }
      const documents = [...pages].map(([url, { ids }]) => [url.slice(docs.length), ids.filter((id) => id.startsWith('document-')).length])
      t.ok(Object.fromEntries(documents)['/orders'] >= 2, JSON.stringify(documents))
      t.match(pages.get(`${docs}/orders`)?.body, 'item/quantity/@unit')
    })

    t.test('the first page has every problem type and every header field of requests', async (t) => {
      const ids = pages.get(docs)?.ids ?? []
      for (const code of Object.keys(problemTypes)) t.ok(ids.includes(code), code)
      for (const { in: place, name } of Object.values(description.components.parameters))
        if (place === 'header') t.ok(ids.includes(name), name)
      t.match(pages.get(docs)?.body, `SHOP=https://HOST${base}\n`)
    })

    t.test('every parameter is described on a page whose operations have it', async (t) => {
      for (const { operation, path } of shownOperations(description)) {
        const page = pages.get(`${docs}/${operation.tags[0]?.toLowerCase()}`)?.body
        for (const { name } of description.paths[path]?.parameters ?? []) t.match(page, `<code>${name}</code></th><td>path</td>`)
      }
    })

    t.test('ids are there once, and links lead somewhere, with their fragments', async (t) => {
      for (const [url, { ids, links }] of pages) {
        t.equal(new Set(ids).size, ids.length, `ids of ${url}`)
        for (const link of links) {
          const [path = '', fragment] = link.split('#')
          const target = pages.get(path === '' ? url : path)
          if (target && fragment !== undefined) t.ok(target.ids.includes(fragment), `${url}: ${link}`)
          if (target) continue
          t.match(link, /^\/(?!\/)/, `${link} is here`)
          const { statusCode } = await app.inject({ url: link, headers: { accept: 'text/html, */*;q=0.1' } })
          t.ok(statusCode === 200 || (link === `${base}/orders` && statusCode === 401), `${link} ${statusCode}`)
        }
      }
    })

    t.test('every page stays small, needs nothing from elsewhere, and has no script of its own and no inline style', async (t) => {
      for (const [url, { body }] of pages) {
        t.ok(Buffer.byteLength(body) < 50_000, `${url}: ${Buffer.byteLength(body)} bytes`)
        t.strictSame(body.match(/(?:src|href)="(?:https?:)?\/\/|<script| style=|<style| on[a-z]+=/g), null, url)
      }
      const { headers } = await app.inject({ url: docs, headers: { accept: 'text/html' } })
      t.notMatch(String(headers['content-security-policy']), 'unsafe-inline')
    })

    t.test('a page is marked where it is listed, and only there', async (t) => {
      for (const [url, { body }] of pages) {
        const current = [...body.matchAll(/<a href="([^"]+)" aria-current="page"/g)].map(([, href]) => href)
        t.strictSame(current, url === docs ? [] : [url], url)
      }
    })

    t.test('every page is cached as the catalogue is, and revalidated (RFC 9110 section 13.1.2)', async (t) => {
      for (const [url, { body }] of pages) {
        const answer = await app.inject({ url, headers: { accept: 'text/html' } })
        t.match(answer.headers['cache-control'], /^public, max-age=/)
        t.equal(answer.body, body, `${url} is the same from the cache`)
        for (const method of ['GET', 'HEAD'] as const) {
          const again = await app.inject({ method, url, headers: { 'if-none-match': String(answer.headers['etag']) } })
          t.match([again.statusCode, again.body], [304, ''], `${method} ${url}`)
        }
        t.equal((await app.inject({ url, headers: { accept: 'application/json' } })).statusCode, 406)
      }
    })

    t.test('a page that does not exist is 404, and the problem lists those that do', async (t) => {
      for (const path of ['/nothing', '/Orders', '/orders/', '/', '/__proto__', '/orders%2F']) {
        t.equal((await app.inject(`${docs}${path}`)).statusCode, 404, path)
      }
      const { body } = await app.inject({ url: `${docs}/nothing`, headers: { accept: 'application/problem+json, text/html;q=0.5' } })
      t.match(JSON.parse(body), { type: `${base}/problems/not-found`, detail: /catalogue, orders, / })
      for (const url of pages.keys()) t.match(url, /^(?:\/shop)?\/docs(?:\/[a-z-]+)?$/, 'a clean URI')
    })
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

t.test('the API description is made once, and the event loop turns between its pieces', async (t) => {
  const { app } = await build(t)
  let turns = 0
  let isMade = false
  const count = () => {
    turns++
    if (!isMade) setImmediate(count)
  }
  setImmediate(count)
  const [first, second] = await Promise.all([app.apiDescription(), app.apiDescription()])
  isMade = true
  t.equal(first, second)
  t.ok(turns >= Object.keys(first.paths).length, `${turns} turns`)
})
