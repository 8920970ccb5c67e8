import t from 'tap'
import { browserForm, build } from '../build.ts'
import { products, read, send } from './buyer-fixtures.ts'

const document = `<purchase-order>
<buyer><name>ACME</name><contact>Ann &amp; Bob</contact></buyer>
<ship-to><name>Dock 4</name><contact>Carl</contact></ship-to>
<item><line-id>00010</line-id><product-id>BOLT-8</product-id><quantity>2</quantity><requested-delivery-date>2026-12-24</requested-delivery-date><note>gently</note><extension name="colour">red &lt;1&gt;</extension><extension name="colour">blue</extension></item>
<item><product-id>BOLT-8</product-id><quantity>1</quantity></item>
</purchase-order>`

t.test('line-id, requested-delivery-date, extension and contact come back in XML, JSON and the page', async (t) => {
  const { app, ...shop } = await build(t, { products })
  const placed = await send({ app, ...shop }, document)
  t.equal(placed.statusCode, 201, placed.body)
  for (const part of [
    '<contact>Ann &amp; Bob</contact>',
    '<contact>Carl</contact>',
    '<line-id>00010</line-id>',
    '<requested-delivery-date>2026-12-24</requested-delivery-date>',
    '<extension name="colour">red &lt;1&gt;</extension>',
    '<extension name="colour">blue</extension>'
  ])
    t.match(placed.body, part)
  const url = String(placed.headers['location'])
  t.match(await read({ app, ...shop }, url), {
    buyer: { contact: 'Ann & Bob' },
    shipTo: { contact: 'Carl' },
    item: [
      {
        lineId: '00010',
        requestedDeliveryDate: '2026-12-24',
        extension: [
          { name: 'colour', value: 'red <1>' },
          { name: 'colour', value: 'blue' }
        ]
      },
      {}
    ]
  })
  const { body: page } = await app.inject({ url, headers: { accept: 'text/html' } })
  for (const part of [
    'Your line <bdi>00010</bdi>',
    'datetime="2026-12-24"',
    '<bdi>colour</bdi>: <bdi>red &lt;1&gt;</bdi>',
    'Ann &amp; Bob',
    'Carl'
  ])
    t.match(page, part)
})

t.test('JSON and forms take line-id, requested-delivery-date, extension and contact, too', async (t) => {
  const shop = await build(t, { products })
  const payload = {
    buyer: { contact: 'Ann' },
    item: [{ lineId: '7', productId: 'BOLT-8', quantity: '1', requestedDeliveryDate: '2026-12-24', extension: [{ name: 'a', value: 'b' }] }]
  }
  const json = await send(shop, JSON.stringify(payload), { 'content-type': 'application/json' })
  t.equal(json.statusCode, 201, json.body)
  t.match(json.json(), {
    buyer: { contact: 'Ann' },
    item: [{ lineId: '7', requestedDeliveryDate: '2026-12-24', extension: [{ name: 'a', value: 'b' }] }]
  })
  const fields = new URLSearchParams([
    ['buyer.contact', 'Ann'],
    ['item.1.product-id', 'BOLT-8'],
    ['item.1.quantity', '1'],
    ['item.1.line-id', '7'],
    ['item.1.requested-delivery-date', '2026-12-24']
  ])
  const form = await send(shop, fields.toString(), browserForm)
  t.equal(form.statusCode, 303, form.body)
  t.match(await read(shop, form.headers['location']), {
    buyer: { contact: 'Ann' },
    item: [{ lineId: '7', requestedDeliveryDate: '2026-12-24' }]
  })
})

t.test('wrong values of these elements are refused with their places', async (t) => {
  const shop = await build(t, { products })
  for (const [from, to, path] of [
    ['00010', 'x'.repeat(65), 'line-id'],
    ['2026-12-24', 'soon', 'requested-delivery-date'],
    ['Ann &amp; Bob', 'x'.repeat(257), 'contact']
  ] as const) {
    const refused = await send(shop, document.replace(from, to))
    t.equal(refused.statusCode, 422, path)
    t.match(refused.body, path)
  }
})

/** The fields of a page's form, as a browser sends them. */
function fieldsOf(page: string): URLSearchParams {
  const unescaped = (text: string) =>
    text
      .replace(/&#39;/g, "'")
      .replace(/&quot;/g, '"')
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&')
  const form = /<form[^>]*method="post"[\s\S]*?<\/form>/.exec(page.slice(page.indexOf('<main')))?.[0] ?? ''
  const fields = new URLSearchParams()
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)?.[1]
    if (name !== undefined) fields.append(name, unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? ''))
  }
  for (const [, name = '', value = ''] of form.matchAll(/<textarea[^>]* name="([^"]*)"[^>]*>\n?([^<]*)</g))
    fields.append(name, unescaped(value))
  return fields
}

t.test('the form that changes an order keeps these elements', async (t) => {
  const { app, ...shop } = await build(t, { products })
  const url = String((await send({ app, ...shop }, document)).headers['location'])
  const before = await read({ app, ...shop }, url)
  const { body } = await app.inject({ url: `${url}?form=change`, headers: { accept: 'text/html' } })
  const fields = fieldsOf(body)
  fields.set('item.1.quantity', '5')
  const changed = await app.inject({
    method: 'POST',
    url,
    headers: browserForm,
    payload: fields.toString()
  })
  t.equal(changed.statusCode, 303, changed.body)
  const after = await read({ app, ...shop }, url)
  t.equal(after.item[0].quantity.value, '5')
  t.same([after.buyer, after.shipTo], [before.buyer, before.shipTo])
  for (const name of ['lineId', 'requestedDeliveryDate', 'extension', 'note']) t.same(after.item[0][name], before.item[0][name], name)
})
