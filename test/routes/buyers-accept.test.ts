import t from 'tap'
import { build } from '../build.ts'
import { cxmlAnswer, cxmlLine, cxmlOrder, doctype, orderCount, products, send, ublAnswer, ublLine, ublOrder } from './buyer-fixtures.ts'

const java = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'
const own = '<purchase-order><item><product-id>BOLT-8</product-id><quantity>1</quantity></item></purchase-order>'

t.test('a client that lists text/html by default gets XML for XML', async (t) => {
  const shop = await build(t, { products })
  for (const accept of ['text/html, image/gif, image/jpeg, */*; q=0.2', java, '*/*', 'text/html;q=0.9, */*', 'application/xml']) {
    const headers = { accept, 'content-type': 'text/xml' }
    const ubl = await send(shop, ublOrder(), headers)
    t.same([ubl.statusCode, ublAnswer(ubl).code], [201, 'AP'], accept)
    t.same(cxmlAnswer(await send(shop, cxmlOrder({ payloadId: accept.length.toString() }), headers))[0], '200', accept)
    const mine = await send(shop, own, headers)
    t.equal(mine.statusCode, 201)
    t.match(mine.headers['content-type'], /^application\/xml/, accept)
    const refused = await send(shop, ublOrder({ lines: [ublLine({ price: '1' })] }), headers)
    t.same([refused.statusCode, ublAnswer(refused).code], [409, 'RE'], accept)
    const root = await send(shop, '<invoice/>', headers)
    t.match([root.statusCode, root.headers['content-type']], [422, /problem\+xml/], accept)
  }
})

t.test('JSON that is asked for by name is our order or our problem', async (t) => {
  const shop = await build(t, { products })
  const headers = { accept: 'application/json' }
  const placed = await send(shop, ublOrder(), headers)
  t.equal(placed.statusCode, 201)
  t.match(placed.json(), { orderNumber: 'PO-7', item: [{ lineId: '1' }] })
  t.ok(placed.headers['location'])
  const refused = await send(shop, ublOrder({ lines: [ublLine({ price: '1' })] }), headers)
  t.match(refused.headers['content-type'], 'application/problem+json')
  t.match([refused.statusCode, refused.json()], [409, { errors: [{ code: 'price-changed', line: 11, path: /PriceAmount$/, item: '1' }] }])
  t.match((await send(shop, cxmlOrder(), headers)).json(), { orderNumber: 'PO-7' })
  const wrong = await send(shop, cxmlOrder({ lines: [cxmlLine({ product: 'X' })] }), headers)
  t.match([wrong.statusCode, wrong.json()], [422, { errors: [{ code: 'unknown-product', line: 15, item: '1' }] }])
  const ranked = await send(shop, ublOrder({ number: 'PO-9' }), { accept: 'application/json;q=0.5, application/xml' })
  t.equal(ublAnswer(ranked).code, 'AP')
})

t.test('an Accept that excludes all XML is 406 before anything is stored', async (t) => {
  const shop = await build(t, { products })
  for (const accept of ['image/png', 'text/html', 'text/html, application/xml;q=0', 'application/pdf, text/csv']) {
    for (const payload of [ublOrder(), cxmlOrder()]) {
      const response = await send(shop, payload, { accept })
      t.equal(response.statusCode, 406, `${accept}: ${response.body.slice(0, 300)}`)
    }
  }
  t.equal(await orderCount(shop), 0)
  const neither = await send(shop, ublOrder(), { accept: 'image/png' })
  t.match(neither.body, '<i>application/json</i>')
  t.notMatch(neither.body, 'text/html', 'a page is not offered, because it would be refused')
  const mixed = await send(shop, ublOrder(), { accept: 'text/html, application/json;q=0.5' })
  t.match([mixed.statusCode, mixed.headers['content-type']], [201, /^application\/json/])
  for (const payload of [ublOrder({ lines: [ublLine({ price: '1' })] }), cxmlOrder({ lines: [cxmlLine({ price: '1' })] })]) {
    const refused = await send(shop, payload, { accept: 'text/html, application/json;q=0.5' })
    t.match([refused.statusCode, refused.headers['content-type']], [409, 'application/problem+json'])
  }
  const unread = await send(shop, ublOrder({ lines: [ublLine({ quantity: 'x' })] }), { accept: 'text/html, application/json;q=0.5' })
  t.match([unread.statusCode, unread.headers['content-type']], [422, 'application/problem+json'])
  t.equal(
    (await send(shop, ublOrder({ lines: [ublLine({ quantity: 'x' })] }), { accept: 'text/html' })).statusCode,
    406,
    'nor a faulty one'
  )
})

t.test('the media types of UBL are read and can be asked for; Accept-Post names them', async (t) => {
  const shop = await build(t, { products })
  for (const mediaType of ['application/vnd.oasis.ubl+xml', 'application/ubl+xml', 'application/xml', 'text/xml']) {
    const response = await send(shop, ublOrder(), { 'content-type': `${mediaType};charset=UTF-8`, accept: mediaType })
    t.equal(response.statusCode, 201, mediaType)
    t.match(response.headers['content-type'], mediaType)
    t.equal((await send(shop, cxmlOrder({ payloadId: mediaType }), { 'content-type': mediaType })).statusCode, 200)
    t.equal((await send(shop, own, { 'content-type': mediaType })).statusCode, 201, `${mediaType} for our own`)
  }
  for (const contentType of ['multipart/related', 'application/cxml', 'text/xml; charset=iso-8859-1', 'text/xml; charset=utf-16']) {
    const response = await send(shop, cxmlOrder(), { 'content-type': contentType })
    t.equal(response.statusCode, 415, contentType)
    for (const name of ['application/vnd.oasis.ubl+xml', 'application/ubl+xml', 'text/xml', 'application/xml'])
      t.match(response.headers['accept-post'], name)
  }
  const large = await send(shop, cxmlOrder({ header: `<Comments>${'x'.repeat(2_200_000)}</Comments>` }))
  t.equal(large.statusCode, 413, 'also of cXML')
})

t.test('any other root is 422, and the problem names the accepted ones', async (t) => {
  const shop = await build(t, { products })
  const draft = ublOrder().replaceAll('urn:oasis:names:specification', 'urn:oasis:names:draft')
  for (const payload of ['<invoice/>', draft, '<Order/>', '<cXML xmlns="urn:x"/>', '<x:purchase-order xmlns:x="urn:x"/>']) {
    const { statusCode, body } = await send(shop, payload)
    t.equal(statusCode, 422, payload)
    for (const name of ['purchase-order', 'OrderChange', 'OrderCancellation', 'cXML']) t.match(body, name)
  }
})

const request = (prolog: string) => cxmlOrder({ doctype: prolog })

t.test('one plain DOCTYPE is taken before cXML; every other one is forbidden', async (t) => {
  const shop = await build(t, { products })
  for (const [i, prolog] of [
    doctype,
    '',
    "<!DOCTYPE cXML SYSTEM 'http://xml.cXML.org/Custom.dtd'>",
    `<!DOCTYPE\tcXML\nSYSTEM "${'u'.repeat(256)}" >`,
    `<!-- first -->\n${doctype}\n<?then?>`
  ].entries()) {
    t.equal(cxmlAnswer(await send(shop, request(prolog).replace('77.1@', `${i}@`)))[0], '200', prolog)
  }
  for (const prolog of [
    '<!DOCTYPE cXML SYSTEM "x.dtd" []>',
    '<!DOCTYPE cXML SYSTEM "x.dtd" [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE cXML PUBLIC "-//x//y" "x.dtd">',
    '<!DOCTYPE cXML [<!ENTITY a "b">]>',
    '<!DOCTYPE cXML>',
    '<!DOCTYPE Order SYSTEM "x.dtd">',
    `${doctype}${doctype}`,
    `<!DOCTYPE cXML SYSTEM "${'u'.repeat(257)}">`,
    `<!DOCTYPE cXML SYSTEM "${'u'.repeat(10_240)}">`,
    '<!doctype cXML SYSTEM "x.dtd">'
  ]) {
    const response = await send(shop, request(prolog))
    t.equal(response.statusCode, 200)
    t.equal(cxmlAnswer(response)[0], '406', prolog.slice(0, 80))
  }
  for (const payload of [
    ublOrder().replace('<Order', `${doctype}\n<Order`),
    `${doctype}${own}`,
    `<!DOCTYPE Order SYSTEM "x.dtd">${ublOrder().slice(38)}`
  ]) {
    const response = await send(shop, payload)
    t.match([response.statusCode, response.body], [400, 'DOCTYPE'])
  }
})

t.test('malformed cXML is Status 406 with its line, malformed UBL an HTTP 400 problem', async (t) => {
  for (const settings of [{}, { GUEST_ORDERS: 'off' }]) {
    const shop = await build(t, { products, settings })
    const broken = await send(shop, cxmlOrder().replace('</Header>', '</Heading>'))
    t.match([broken.statusCode, ...cxmlAnswer(broken)], [200, '406', /^line 8: /], broken.body)
  }
  const shop = await build(t, { products })
  const ubl = await send(shop, ublOrder().replace('</Order>', '</Orders>'))
  t.match([ubl.statusCode, ubl.headers['content-type']], [400, /problem\+xml/])
})
