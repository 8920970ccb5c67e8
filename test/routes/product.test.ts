import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'

const json = { 'content-type': 'application/json', accept: 'application/json' } as const
const minimal = '<product><name>Nut</name><price>0.5</price></product>'

const put = ({ app }: Shop, id: string, payload: string, headers: Record<string, string>) =>
  app.inject({ method: 'PUT', url: `/product/${id}`, headers: { ...xml, ...headers }, payload })

t.test('POST creates a product under the id of its document, or under one that the server makes', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Shop', 'catalogue')
  const post = (payload: string) => shop.app.inject({ method: 'POST', url: '/products', headers: { ...xml, ...seller }, payload })
  const named = await post('<product id="NUT-8"><name>Nut</name><price currency="EUR">0.0185</price><on-hand>7</on-hand></product>')
  t.match([named.statusCode, named.headers['location'], named.body], [201, '/product/NUT-8', '<price currency="EUR">0.0185</price>'])
  t.match(named.headers['etag'], /^"/)
  t.notMatch(named.body, 'on-hand', 'stock is never in the product')
  t.equal((await shop.store.stock('NUT-8')).onHand, '7')
  const made = await post(minimal)
  t.match([made.statusCode, made.headers['location'], made.body], [201, /^\/product\/[0-9a-f-]{36}$/, '<unit>C62</unit>'])
  t.match(made.body, '<availability>out-of-stock</availability>')
  const twice = await post('<product id="NUT-8"><name>Nut</name><price>1</price></product>')
  t.match([twice.statusCode, twice.body], [409, 'product-exists'])
  t.equal(twice.headers['location'], '/product/NUT-8', 'Location is the product that has the id')
  t.match(twice.body, /Choose another id, or replace that product with PUT\.[\s\S]*<line>1<\/line>[\s\S]*<path>\/product<\/path>/)
  const foreign = await post('<product><name>Nut</name><price currency="USD">1</price></product>')
  t.match([foreign.statusCode, foreign.body], [422, 'invalid-product'])
})

t.test('PUT creates with If-None-Match: *, and replaces only the version that If-Match names', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Shop', 'catalogue')
  const created = await put(shop, 'NUT-8', minimal, { ...seller, 'if-none-match': '*' })
  t.match([created.statusCode, created.headers['location']], [201, '/product/NUT-8'])
  t.equal((await put(shop, 'NUT-8', minimal, { ...seller, 'if-none-match': '*' })).statusCode, 412)
  t.equal((await put(shop, 'NUT-8', minimal, seller)).statusCode, 428)
  const replaced = await put(shop, 'NUT-8', minimal.replace('0.5', '0.6'), { ...seller, 'if-match': String(created.headers['etag']) })
  t.match([replaced.statusCode, replaced.body], [200, 'version="2"'])
  t.equal((await put(shop, 'NUT-8', minimal, { ...seller, 'if-match': String(created.headers['etag']) })).statusCode, 412)
  t.equal((await put(shop, 'NUT-9', minimal, seller)).statusCode, 201, 'nothing is replaced at a new URI')
  t.equal((await put(shop, 'NUT-7', minimal, { ...seller, 'if-match': '*' })).statusCode, 412)
})

t.test('on PUT the URI decides which product it is; another id in the document is 422', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Shop', 'catalogue')
  const refused = await put(shop, 'NUT-8', '<product id="NUT-9"><name>Nut</name><price>1</price></product>', seller)
  t.match([refused.statusCode, refused.body], [422, 'identity-mismatch'])
  t.equal((await put(shop, 'a%20b', minimal, seller)).statusCode, 404)
  t.equal((await shop.app.inject('/product/NUT-8')).statusCode, 404)
})

t.test('an id that no product has is answered with where to look ids up', async (t) => {
  const { app } = await build(t, { settings: { BASE_URL: '/shop' } })
  for (const path of ['/shop/product/NONE', '/shop/product/NONE/stock']) {
    const response = await app.inject({ url: path, headers: { accept: 'application/json' } })
    t.equal(response.statusCode, 404)
    const { detail } = response.json<{ detail: string }>()
    t.equal(detail, 'There is no product NONE. Look the id up in /shop/products, or search there: /shop/products?q=bolt.')
  }
})

t.test('the page of an id that no product has leads to the products', async (t) => {
  const { app } = await build(t)
  const { body } = await app.inject({ url: '/product/NONE', headers: { accept: 'text/html' } })
  t.match(body, '<p class="lead">There is no product NONE.</p>')
  t.match(body, '<a href="/products">Go to the products</a>')
})

t.test('a deleted product is 410, and its version goes on when it is created again', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Shop', 'catalogue')
  const remove = () => shop.app.inject({ method: 'DELETE', url: '/product/ABC-1', headers: seller })
  t.equal((await remove()).statusCode, 204)
  for (const url of ['/product/ABC-1', '/product/ABC-1/stock']) t.equal((await shop.app.inject(url)).statusCode, 410, url)
  t.equal((await remove()).statusCode, 410)
  t.notMatch((await shop.app.inject('/products')).body, 'ABC-1')
  const again = await put(shop, 'ABC-1', minimal, { ...seller, 'if-none-match': '*' })
  t.equal(again.statusCode, 201)
  t.ok(Number(/version="(\d+)"/.exec(again.body)?.[1]) > 1)
})

t.test('selling changes a product’s representation only when its availability flips', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('2') } } })
  const etag = async (url = '/product/ABC-1') => (await shop.app.inject(url)).headers['etag']
  const order = () => shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })
  const [before, page, stock] = [await etag(), await etag('/products'), await etag('/product/ABC-1/stock')]
  await order()
  t.same([await etag(), await etag('/products')], [before, page])
  t.not(await etag('/product/ABC-1/stock'), stock)
  const last = await order()
  t.not(await etag(), before)
  t.not(await etag('/products'), page)
  t.match((await shop.app.inject('/product/ABC-1')).body, '<availability>out-of-stock</availability>')
  await shop.app.inject({ method: 'DELETE', url: String(last.headers['location']) })
  t.match((await shop.app.inject('/product/ABC-1')).body, '<availability>in-stock</availability>')
})

t.test('a product on backorder is sold below zero, and its stock says so', async (t) => {
  const shop = await build(t, { products: { 'ABC-1': { onHand: decimal('1'), unit: 'KGM', backorder: true } } })
  const placed = await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml({ 'ABC-1': '3.5' }) })
  t.equal(placed.statusCode, 201)
  t.match((await shop.app.inject('/product/ABC-1/stock')).body, '<on-hand>-2.5</on-hand>')
  t.match((await shop.app.inject('/product/ABC-1')).body, '<availability>backorder</availability>')
})

t.test('a product has every field back that it was given, and two products never share a GTIN', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Shop', 'catalogue')
  const product = {
    id: 'NUT-8',
    name: ' Nut <M8> & "more" ',
    description: 'Line one\nline two\r',
    price: { value: '10.10', currency: 'EUR' },
    unit: 'BX',
    minimumQuantity: '10',
    quantityStep: '5',
    gtin: '4006381333931',
    category: ['Fasteners', 'Nuts'],
    image: [{ href: 'https://img.example/nut.png?a=1&b=2' }],
    backorder: 'allowed',
    onHand: '40'
  }
  const created = await shop.app.inject({ method: 'POST', url: '/products', headers: { ...json, ...seller }, payload: product })
  t.equal(created.statusCode, 201, created.body)
  const { onHand: _, ...shown } = product
  t.match(created.json(), { ...shown, version: '1', availability: 'in-stock' })
  const read = await shop.app.inject('/product/NUT-8')
  const again = await put(shop, 'NUT-8', read.body, { ...seller, 'if-match': String(read.headers['etag']), accept: 'application/json' })
  t.match(again.json(), { ...shown, version: '2' }, 'through XML and back')
  t.equal((await shop.store.stock('NUT-8')).onHand, '40', 'a replace without on-hand leaves the stock')
  const taken = await put(shop, 'NUT-9', '<product><name>Nut</name><price>1</price><gtin>4006381333931</gtin></product>', seller)
  t.match([taken.statusCode, taken.body], [409, /gtin-taken[\s\S]*NUT-8/])
  t.match(taken.body, /Correct the GTIN here or there\.[\s\S]*<line>1<\/line>[\s\S]*<path>\/product\/gtin<\/path>/)
  const posted = await shop.app.inject({
    method: 'POST',
    url: '/products',
    headers: { ...json, ...seller },
    payload: { ...product, id: 'NUT-9' }
  })
  t.match(posted.json(), { status: 409, errors: [{ path: '/gtin' }] })
  const longer = await put(shop, 'NUT-9', '<product><name>Nut</name><price>1</price><gtin>04006381333931</gtin></product>', seller)
  t.match([longer.statusCode, longer.body], [409, /NUT-8 already has the GTIN 04006381333931/], 'in another length')
})

t.test('a product has 100 categories and 100 images at most', async (t) => {
  const shop = await build(t)
  const seller = await shop.key('Shop', 'catalogue')
  const parts = {
    category: (i: number) => `<category>Nuts ${i}</category>`,
    image: (i: number) => `<image href="/${i}.png"/>`
  }
  for (const [name, part] of Object.entries(parts)) {
    const document = (count: number) =>
      minimal.replace('</product>', `${Array.from({ length: count }, (_, i) => part(i)).join('')}</product>`)
    const refused = await put(shop, name, document(101), seller)
    t.match([refused.statusCode, refused.body], [422, new RegExp(`at most 100 &lt;${name}&gt; in &lt;product&gt;`)])
    t.match(refused.body, `<path>/product/${name}[101]</path>`)
    t.equal((await put(shop, name, document(100), seller)).statusCode, 201, name)
  }
})

t.test(
  'an image on another host without https is refused by name; one that was stored before is answered, but no page shows it',
  async (t) => {
    const shop = await build(t)
    const seller = await shop.key('Shop', 'catalogue')
    const document = (...hrefs: string[]) =>
      `<product>\n<name>Nut</name><price>1</price>\n${hrefs.map((href) => `<image href="${href}"/>`).join('\n')}</product>`
    for (const href of ['//evil.example/a.png', '/\\evil.example/a.png', 'http://e.org/a.png', 'javascript:alert(1)', 'data:image/png,a']) {
      const refused = await put(shop, 'NUT-8', document('/a.png', href), { ...seller, 'if-none-match': '*' })
      t.match([refused.statusCode, refused.body], [422, /https URL, or a path that starts with one \/[\s\S]*<line>4<\/line>/], href)
      t.match(refused.body, '<path>/product/image[2]')
    }
    t.equal((await put(shop, 'NUT-8', document('/a.png', 'https://e.org/a.png'), { ...seller, 'if-none-match': '*' })).statusCode, 201)
    const old = {
      name: 'Old',
      price: decimal('1'),
      unit: 'C62',
      categories: [],
      images: ['//evil.example/a.png', '/b.png'],
      backorder: false
    }
    await shop.store.createProduct('OLD', old)
    t.match((await shop.app.inject('/product/OLD')).body, '<image href="//evil.example/a.png"/>')
    const page = (await shop.app.inject({ url: '/product/OLD', headers: { accept: 'text/html' } })).body
    t.match(page, 'src="/b.png"')
    t.notMatch(page, 'evil.example')
  }
)
