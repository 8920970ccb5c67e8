import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import { build, draft, form } from '../build.ts'

/** A name that would break out of its place on a page if it were not escaped. */
const hostile: Readonly<Record<string, string>> = {
  'a script': '<script>alert(1)</script>',
  'an end of the title': '</title><script src=//evil.example/x.js></script>',
  'an end of the text area': '</textarea><img src=x onerror=alert(1)>',
  'an end of the attribute': '" onmouseover="alert(1)" x="',
  'an end of a single-quoted attribute': "' onfocus='alert(1)' autofocus='",
  'a scheme': 'javascript:alert(1)',
  'a comment': '--><svg onload=alert(1)><!--',
  'a template': "<%= process.exit(1) %><%~ '<b>' %>{{7*7}}",
  'character references': '&lt;script&gt;&#60;b&#62;',
  'text that turns around': '\u202e<b>gpj.exe\u202c\u200b',
  'look-alikes': '＜script＞alert(1)＜/script＞',
  'lone combining marks': 'Z\u0351\u036b\u0343 <i>a\u0301'
}

const html = { accept: 'text/html' } as const

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c] ?? c)
}

/** Nothing in the page is markup that the templates did not write. */
function harmless(t: Test, body: string, text: string, where: string): void {
  t.ok(body.includes(escaped(text)), `${where} shows the text, escaped`)
  if (text !== escaped(text)) t.notOk(body.includes(text), `${where} never has it raw`)
  const tags = body.match(/<[a-z!/](?:[^"'>]|"[^"]*"|'[^']*')*>/gi) ?? []
  t.same(
    tags.filter((tag) => /\son\w+\s*=/i.test(tag.replace(/"[^"]*"/g, '""'))),
    [],
    `${where} has no event handler`
  )
  t.same(
    tags.filter((tag) => /^<script(?! type="module" src="\/public\/)/i.test(tag)),
    [],
    `${where} has no script but its own`
  )
  t.notMatch(body, /(?:href|src|action)="\s*(?:javascript|data|vbscript):/i, `${where} links no code`)
  t.notMatch(body, /\sstyle=/i, `${where} has no inline style`)
}

const shop = await build(t, {
  products: Object.fromEntries(
    Object.values(hostile).map((text, i) => [
      `ABC-${i}`,
      { name: text, description: text, categories: [text], images: [text, 'https://images.example/a.png'] }
    ])
  )
})

for (const [i, [what, text]] of Object.entries(hostile).entries()) {
  t.test(`${what} in names, categories and notes is only text, on every page`, async (t) => {
    const { app, store, key } = shop
    const id = `ABC-${i}`
    const placed = await store.placeOrder({
      order: {
        orderNumber: text.slice(0, 64),
        buyer: {
          name: text,
          phone: text.slice(0, 64),
          taxId: text.slice(0, 64),
          address: { street: text, additionalStreet: text, city: text, postalCode: text.slice(0, 64), region: text }
        },
        shipTo: { name: text },
        billTo: { name: text },
        items: [{ product: { productId: id }, quantity: decimal('1'), notes: [text] }],
        notes: [text],
        extensions: [{ name: text.slice(0, 64), value: text }]
      },
      status: 'accepted'
    })
    const seller = await key(text, 'order', 'catalogue', 'fulfilment')
    const order = `/order/${placed.order.id}`
    const query = encodeURIComponent(text)
    const pages = [
      '/products',
      `/products?q=${query}`,
      `/products?category=${query}`,
      `/product/${id}`,
      '/order',
      `/order?product=${id}`,
      order,
      `${order}?form=change`,
      `${order}?form=again`,
      '/orders'
    ]
    for (const url of pages) {
      const { body, statusCode } = await app.inject({ url, headers: { ...html, ...seller } })
      t.equal(statusCode, 200, url)
      harmless(t, body, text, url)
    }
    const fields = new URLSearchParams({
      'item.1.product-id': text,
      'item.1.quantity': text,
      'buyer.name': text,
      'note.1': text,
      _customer: ''
    })
    for (const url of ['/order', order]) {
      const answer = await app.inject({
        method: 'POST',
        url,
        headers: { ...html, ...form },
        payload: `${fields}&_method=PUT&_if-match=${encodeURIComponent('*')}`
      })
      t.equal(answer.statusCode, 422, `${url} refuses it`)
      harmless(t, answer.body, text, `the form of ${url}, refused,`)
    }
    const missing = await app.inject({ url: `/order/${query.slice(0, 200)}`, headers: html })
    t.equal(missing.statusCode, 404)
    t.notMatch(missing.body, /<script>|onerror=alert|onload=alert/)
  })
}

t.test('a product shows images only from https and from here', async (t) => {
  const images = [
    'https://images.example/a.png',
    '/public/b.png',
    '//evil.example/c.png',
    'http://plain.example/d.png',
    'javascript:alert(1)',
    'data:text/html,x'
  ]
  const { app } = await build(t, { products: { 'ABC-1': { images } } })
  const { body } = await app.inject({ url: '/product/ABC-1', headers: html })
  t.same(
    [...body.matchAll(/<img src="([^"]*)"/g)].map(([, src]) => src),
    images.slice(0, 2)
  )
})

t.test('only a product that can be ordered now has a link to order it', async (t) => {
  const none = decimal('0')
  const { app, store } = await build(t, { products: { STOCKED: {}, LATER: { backorder: true, onHand: none }, GONE: { onHand: none } } })
  const hasLink = async (url: string, id: string) => (await app.inject({ url, headers: html })).body.includes(`href="/order?product=${id}"`)
  for (const [id, orderable] of [
    ['STOCKED', true],
    ['LATER', true],
    ['GONE', false]
  ] as const) {
    t.equal(await hasLink(`/product/${id}`, id), orderable, `the page of ${id}`)
    t.equal(await hasLink('/products', id), orderable, `the list, for ${id}`)
  }
  await store.putStock('GONE', decimal('1'), {})
  t.equal(await hasLink('/product/GONE', 'GONE'), true, 'in stock again')
})

t.test('the pages of the catalogue are the same for everybody', async (t) => {
  const { app, key } = await build(t)
  const seller = await key('Seller', 'catalogue', 'fulfilment')
  for (const url of ['/', '/products', '/product/ABC-1']) {
    const [guest, signedIn] = [await app.inject({ url, headers: html }), await app.inject({ url, headers: { ...html, ...seller } })]
    t.equal(guest.body, signedIn.body, url)
    t.match(guest.headers['cache-control'], /^public/)
    t.notMatch(String(guest.headers['vary']), /cookie/i)
  }
})

t.test('the first page offers the main categories of the whole shop; a filter, those of its products', async (t) => {
  const products = Object.fromEntries(
    ['Bolts', 'Cable', 'Zinc & "co"'].flatMap((main, i) =>
      ['x', 'y'].map((id) => [`${i}${id}`, { name: `Thing ${main}`, categories: [main, `${main} ${id}`] }])
    )
  )
  const { app, store } = await build(t, { products: { ...products, none: { categories: [] } } })
  const offered = async (url: string) => {
    const { body } = await app.inject({ url, headers: html })
    const chips = /<nav class="chips".*?<\/nav>/s.exec(body)?.[0] ?? ''
    return [...chips.matchAll(/<a href="([^"]*)"[^>]*>(?:<bdi>)?(.*?)(?:<\/bdi>)?<\/a>/g)].map(([, href, name]) => [name, href])
  }
  const all = ['All categories', '/products']
  const shop = [
    all,
    ['Bolts', '/products?category=Bolts'],
    ['Cable', '/products?category=Cable'],
    ['Zinc &amp; &quot;co&quot;', '/products?category=Zinc+%26+%22co%22']
  ]
  t.same(await offered('/products?limit=1'), shop)
  const { headers } = await app.inject({ url: '/products?limit=1', headers: html })
  const link = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1] ?? ''
  t.same(await offered(link), shop, 'and so does each page after it')
  t.same(
    (await offered('/products?category=Cable')).map(([name]) => name),
    ['All categories', 'Cable', 'Cable x', 'Cable y']
  )
  t.same(
    (await offered('/products?q=bolts')).map(([name]) => name),
    ['All categories', 'Bolts']
  )
  const before = headers['etag']
  await store.createProduct('new', draft({ categories: ['A new one'] }))
  const after = await app.inject({ url: '/products?limit=1', headers: { ...html, 'if-none-match': String(before) } })
  t.match([after.statusCode, after.body], [200, 'A new one'], 'a category that is new is a new page')
})

t.test('more main categories than a person would choose from: the page offers those of its own products', async (t) => {
  const of = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`P-${i}`, { categories: [`Category ${i}`] }]))
  for (const [count, chips] of [
    [60, 61],
    [61, 2]
  ] as const) {
    const { app } = await build(t, { products: of(count) })
    const { body } = await app.inject({ url: '/products?limit=1', headers: html })
    t.equal(body.match(/\?category=/g)?.length, chips - 1, `${count}`)
  }
})

t.test('the default page of products is less than 50 KB', async (t) => {
  const products = Object.fromEntries(
    Array.from({ length: 110 }, (_, i) => [
      `PRODUCT-NUMBER-${i}`,
      { name: `A product with a name of some length, number ${i}`, categories: [`Category ${i % 60}`, `Other ${i}`] }
    ])
  )
  const { app } = await build(t, { products })
  const { body } = await app.inject({ url: '/products', headers: html })
  t.equal(body.match(/<tr><th scope="row">/g)?.length, 100)
  t.ok(Buffer.byteLength(body) < 50_000, `${Buffer.byteLength(body)} bytes`)
  const form = await app.inject({ url: '/order', headers: html })
  t.ok(Buffer.byteLength(form.body) < 50_000, `${Buffer.byteLength(form.body)} bytes`)
})

t.test('the page of a problem says nothing twice', async (t) => {
  const get = (url: string) => shop.app.inject({ url, headers: html })
  const oneParameter = await get('/products?limit=0')
  t.equal(oneParameter.body.split('limit must be a whole number').length, 2)
  const unknown = await get('/products?x=1&y=1')
  t.equal(unknown.body.split('There is no parameter &quot;x&quot;').length, 2)
  t.match(unknown.body, 'There is no parameter &quot;y&quot;', 'another error than that of the first sentence is listed')
  const wrongType = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...html, 'content-type': 'text/csv' }, payload: 'a' })
  t.equal(wrongType.body.split('application/xml').length, 2, 'what can be used is said once')
})

t.test('the page of a missing address leads to the home page, as it says, and that of a missing product to the products', async (t) => {
  const get = (url: string) => shop.app.inject({ url, headers: html })
  t.match((await get('/nothing')).body, '<a href="/">Go to the home page</a>')
  t.match((await get('/product/none')).body, '<a href="/products">Go to the products</a>')
})
