import t from 'tap'
import { decimal } from '../../domain/money.ts'
import { build } from '../build.ts'

/** Text that is written from right to left. Numbers next to it move to its other side unless it is isolated. */
const name = 'صامولة (M8)'

/** The texts of a page's content in whose own element nothing isolates the name. */
function unisolated(body: string): readonly string[] {
  const content = body.slice(body.indexOf('<h1'), body.indexOf('</main>'))
  // Controls and the texts of a picture stand apart from other text.
  const shown = content.replace(/<svg.*?<\/svg>|<textarea.*?<\/textarea>|<option.*?<\/option>|="[^"]*صامولة[^"]*"/gs, '')
  return [...shown.matchAll(/(<[^<>]*>[^<>]*)صامولة/g)].flatMap(([, before = '']) =>
    /^<(?:bdi[ >]|[^>]* dir="auto")/.test(before) ? [] : [before]
  )
}

t.test('a name that is written from right to left moves no number of the page', async (t) => {
  const { app, store, key } = await build(t, { products: { 'ABC-1': { name, description: name, categories: [name] }, 'ABC-2': { name } } })
  const party = {
    name,
    contact: name,
    email: `${name}@shop.example`,
    phone: name,
    taxId: name,
    address: { street: name, additionalStreet: name, city: name, postalCode: name, region: name, country: 'SA' }
  }
  const item = { quantity: decimal('30'), lineId: name, notes: [name], extensions: [{ name, value: name }] }
  const { order } = await store.placeOrder({
    order: {
      orderNumber: name,
      buyer: party,
      shipTo: party,
      items: ['ABC-1', 'ABC-2'].map((productId) => ({ product: { productId }, ...item })),
      notes: [name],
      extensions: [{ name, value: name }]
    },
    customer: name,
    status: 'accepted'
  })
  await store.setOrderStatus(order.id, 'accepted', {}, { details: { note: name, items: [{ line: 1, note: name }] } })
  const shipment = {
    carrier: name,
    trackingNumber: name,
    items: [1, 2].map((line) => ({ line, quantity: decimal('10') }))
  }
  await store.shipOrder(order.id, shipment, {})
  await store.shipOrder(order.id, { ...shipment, trackingUri: 'https://track.example/' }, {})
  const caller = await key(name, 'order', 'catalogue', 'fulfilment')
  const uri = `/order/${order.id}`
  const pages = [
    uri,
    `${uri}/status`,
    `${uri}/shipments`,
    `${uri}/shipment/1`,
    `${uri}/shipment/2`,
    `${uri}?form=change`,
    `${uri}?form=again`,
    '/orders',
    '/order'
  ]
  for (const url of [...pages, `/orders?customer=${encodeURIComponent(name)}`, '/events', '/webhooks', '/session']) {
    const { statusCode, body } = await app.inject({ url, headers: { ...caller, accept: 'text/html' } })
    t.equal(statusCode, 200, url)
    t.match(body, 'صامولة', url)
    t.same(unisolated(body), [], url)
  }
  const category = `?category=${encodeURIComponent(name)}`
  for (const url of [
    '/products',
    `/products${category}`,
    `/products${category}&q=M8`,
    `/products${category}&q=M9`,
    '/product/ABC-1',
    '/product/ABC-1/stock'
  ]) {
    const { body } = await app.inject({ url, headers: { ...caller, accept: 'text/html' } })
    t.match(body, 'صامولة', url)
    t.same(unisolated(body), [], url)
  }
})
