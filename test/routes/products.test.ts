import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { mostWeight } from '../../domain/product-list.ts'
import { productXsd } from '../../schemas/product.ts'
import { makeXmlGate } from '../../xml/gate.ts'
import { build, draft } from '../build.ts'

const texts = (count: number, length: number) => Array.from({ length: count }, (_, i) => `/${i}`.padEnd(length, 'x'))

/** As large as a product can be. */
const largest = draft({ description: 'd'.repeat(4_000), categories: texts(100, 256), images: texts(100, 1_600) })

const count = 7

const formats = {
  'application/xml': (body: string) => [...body.matchAll(/<product id="([^"]+)"/g)].map(([, id]) => id),
  'application/json': (body: string) => (JSON.parse(body).product ?? []).map(({ id }: { id: string }) => id),
  'text/html': (body: string) => [...body.matchAll(/<td class="code">([^<]+)</g)].map(([, id]) => id)
}

t.test('a page of the largest products ends early, and next leads to all of them', async (t) => {
  const names = Array.from({ length: count }, (_, i) => `P-${i}`)
  const { app, store } = await build(t, { products: {} })
  await store.importProducts(names.map((id) => ({ id, draft: largest })))
  const get = (url: string, accept: string, more = {}) => app.inject({ url, headers: { accept, ...more } })

  for (const [accept, idsOf] of Object.entries(formats)) {
    for (const query of ['', '?limit=1000', '?q=bolt', `?category=${largest.categories[50]}`, '?updated-since=2020-01-01T00:00:00Z']) {
      const found: unknown[] = []
      const lengths: number[] = []
      for (let next: string | undefined = `/products${query}`; next !== undefined; ) {
        const { headers, body } = await get(next, accept)
        t.ok(body.length < 2 * mostWeight.page, `${body.length} bytes`)
        const ids = idsOf(body)
        lengths.push(ids.length)
        found.push(...ids)
        next = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1]
      }
      t.same(found, names, `${accept} ${query}`)
      t.same(lengths, [2, 2, 2, 1])
    }
  }

  const { rawPayload, headers } = await get('/products', 'application/xml')
  const gate = makeXmlGate()
  t.same(gate.validate(gate.parse(rawPayload), productXsd, ['products']), [])
  t.equal((await get('/products', 'application/xml', { 'if-none-match': headers['etag'] })).statusCode, 304)
  await store.putProduct('P-0', draft(), {})
  const changed = await get('/products', 'application/xml', { 'if-none-match': headers['etag'] })
  t.same(formats['application/xml'](changed.body), ['P-0', 'P-1', 'P-2'], 'a change of one product shows in what fits, and in the tag')
  t.not(changed.headers['etag'], headers['etag'])
})

t.test('the title of a list of products has its search and its category', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { categories: ['Nuts & bolts'] } } })
  for (const [query, title] of [
    ['', 'Products'],
    ['?q=bolt', 'Products with “bolt”'],
    ['?category=Nuts+%26+bolts', 'Products in Nuts &amp; bolts'],
    ['?q=hex&category=Nuts+%26+bolts', 'Products in Nuts &amp; bolts with “hex”'],
    ['?q=%3F', 'Products']
  ] as const) {
    const { body } = await app.inject({ url: `/products${query}`, headers: { accept: 'text/html' } })
    t.match(
      [/<h1>(.*?)<\/h1>/.exec(body)?.[1]?.replace(/<\/?bdi>/g, ''), /<title>([^<]*)/.exec(body)?.[1]?.startsWith(`${title} · `)],
      [title, true],
      query
    )
  }
})

t.test('a search in a category that finds nothing offers the same search in all categories', async (t) => {
  const { app } = await build(t, { products: { 'ABC-1': { categories: ['Bolts'] } } })
  const page = async (query: string) => (await app.inject({ url: `/products${query}`, headers: { accept: 'text/html' } })).body
  t.match(await page('?q=nut+m8&category=Bolts'), '<a href="/products?q=nut+m8">Search all categories for “<bdi>nut m8</bdi>”</a>')
  t.notMatch(await page('?q=nut'), 'Search all categories')
})

t.test('the page of stock shows the name of the product and its unit, and changes with them', async (t) => {
  const { app, store, key } = await build(t, { products: { 'ABC-1': { name: 'Sand <fine>', unit: 'KGM', onHand: decimal('2.5') } } })
  const seller = await key('Seller', 'catalogue')
  const url = '/product/ABC-1/stock'
  const page = (more: Readonly<Record<string, string>> = {}) => app.inject({ url, headers: { accept: 'text/html', ...seller, ...more } })
  const { body, headers } = await page()
  t.match(body, '<h1>Stock of <bdi>Sand &lt;fine&gt;</bdi> (ABC-1)</h1>')
  t.match(body, /<strong>2\.5<\/strong> kg on hand[\s\S]*In kg/)
  const tag = String(headers['etag'])
  t.equal((await page({ 'if-none-match': tag })).statusCode, 304)
  const put = (condition: string) =>
    app.inject({
      method: 'PUT',
      url,
      headers: { ...seller, 'content-type': 'application/json', 'if-match': condition },
      payload: { onHand: '3' }
    })
  t.equal((await put(tag)).statusCode, 200, 'the tag of the page is good for a write')
  const written = String((await page()).headers['etag'])
  await store.putProduct('ABC-1', draft({ name: 'Gravel', unit: 'KGM' }), {})
  t.match((await page({ 'if-none-match': written })).body, 'Gravel')
})
