import { spawnSync } from 'node:child_process'
import t from 'tap'
import type { CxmlAnswerBasis } from '../../../dialects/buyer-document.ts'
import { writeConfirmation, writeCxmlResponse, writeProfileResponse } from '../../../dialects/cxml/responses.ts'
import { cxmlWords } from '../../../dialects/cxml/words.ts'
import { find, readElements, trimmedText } from '../../../dialects/xml-element.ts'
import { guard } from '../../../xml/guard.ts'
import { officialSchema } from '../samples.ts'
import { doctype } from './documents.ts'

const at = Date.UTC(2026, 3, 20, 9, 30, 15, 123)
const basis: CxmlAnswerBasis = {
  vocabulary: 'cxml',
  payloadId: 'p&1@buyer.example',
  version: '1.2.045',
  orderNumber: 'PO "7"',
  orderDate: '2026-04-20T09:00:00+02:00',
  from: { domain: 'NetworkId', identity: 'AN01<BUYER' },
  to: { domain: 'DUNS', identity: '123456789' }
}
const bare: CxmlAnswerBasis = { vocabulary: 'cxml' }
const content = { payloadId: 'r1@shop.example', at }
const elementOf = (xml: string) => readElements(guard(Buffer.from(xml)))
const statusOf = (text: readonly string[]) =>
  trimmedText(find(elementOf(writeCxmlResponse(bare, { ...content, code: 400, text })), 'Response', 'Status')) ?? ''

t.test('a Response has the code, its name and the reasons', async (t) => {
  t.equal(
    writeCxmlResponse({ ...basis, doctype }, { ...content, code: 409, text: ['line 1: <a> & "b"', 'line 2'] }),
    `<?xml version="1.0" encoding="UTF-8"?>
${doctype}
<cXML payloadID="r1@shop.example" timestamp="2026-04-20T09:30:15+00:00" xml:lang="en">
  <Response>
    <Status code="409" text="Conflict" xml:lang="en">line 1: &lt;a&gt; &amp; "b"
line 2</Status>
  </Response>
</cXML>
`
  )
  t.notMatch(writeCxmlResponse(basis, { ...content, code: 200, text: [] }), 'DOCTYPE')
})

t.test('every code has its name', async (t) => {
  const names = ([200, 400, 401, 403, 406, 409, 450, 500] as const).map(
    (code) => find(elementOf(writeCxmlResponse(bare, { ...content, code, text: ['x'] })), 'Response', 'Status')?.attributes['text']
  )
  t.same(names, [
    'OK',
    'Bad Request',
    'Unauthorized',
    'Forbidden',
    'Not Acceptable',
    'Conflict',
    'Not Implemented',
    'Internal Server Error'
  ])
})

t.test('a Status is never empty, nor longer than 60,000 characters', async (t) => {
  t.equal(statusOf([]), 'Bad Request')
  t.equal(statusOf(['', ' ']), 'Bad Request')
  const fits = Array.from({ length: 60 }, () => 'a'.repeat(999))
  t.equal(statusOf(fits), fits.join('\n'))
  const many = statusOf(Array.from({ length: 100 }, (_, i) => `${i} ${'a'.repeat(1000)}`))
  t.ok(many.length <= 60_000)
  t.match(many, /\n58 a+\n41 more reasons are left out\.$/)
  t.match(statusOf([...fits, 'a'.repeat(60)]), /\n2 more reasons are left out\.$/)
  t.match(statusOf(['a'.repeat(70_000), 'b']), /a…\n1 more reason is left out\.$/)
  t.match(statusOf(['a'.repeat(70_000)]), /^a{59000,59990}…$/)
})

t.test('characters that XML cannot hold are replaced', async (t) => {
  t.equal(statusOf(['a\0b\u0001c\ud800d\uffff \u{1f600}']), 'a\ufffdb\ufffdc\ufffdd\ufffd \u{1f600}')
  t.match(writeCxmlResponse(bare, { code: 200, text: ['x'], at, payloadId: 'a"\u0002' }), 'payloadID="a&quot;\ufffd"')
})

const profile = { ...content, orderUri: 'https://shop.example/order?a&b' }

t.test('a ProfileResponse names OrderRequest and where it goes', async (t) => {
  const root = elementOf(writeProfileResponse(bare, profile))
  t.match(find(root, 'Response', 'Status')?.attributes, { code: '200', text: 'OK' })
  t.match(find(root, 'Response', 'ProfileResponse')?.attributes, { effectiveDate: root.attributes['timestamp'] ?? '' })
  t.match(find(root, 'Response', 'ProfileResponse', 'Transaction'), {
    attributes: { requestName: 'OrderRequest' },
    children: [{ text: profile.orderUri }]
  })
  t.match(writeProfileResponse({ ...bare, doctype }, profile), doctype)
})

t.test('a ConfirmationRequest goes from the supplier to the buyer', async (t) => {
  const xml = writeConfirmation({ ...basis, doctype }, { ...content, type: 'reject', confirmId: 'o1.2', reason: ' Sold out ' })
  const root = elementOf(xml)
  t.equal(trimmedText(find(root, 'Header', 'From', 'Credential', 'Identity')), '123456789')
  t.equal(trimmedText(find(root, 'Header', 'To', 'Credential', 'Identity')), 'AN01<BUYER')
  const confirmation = find(root, 'Request', 'ConfirmationRequest')
  t.match(find(confirmation, 'ConfirmationHeader'), {
    attributes: { confirmID: 'o1.2', type: 'reject', noticeDate: '2026-04-20T09:30:15+00:00' },
    children: [{ name: 'Comments', text: 'Sold out' }]
  })
  t.match(find(confirmation, 'OrderReference'), {
    attributes: { orderID: 'PO "7"', orderDate: '2026-04-20T09:00:00+02:00' },
    children: [{ name: 'DocumentReference', attributes: { payloadID: 'p&1@buyer.example' } }]
  })
  const least = writeConfirmation(bare, { ...content, type: 'accept', confirmId: 'o1.1', reason: ' ' })
  t.notMatch(least, /Comments|orderID|""|undefined/)
})

t.test('every answer is valid by the DTDs of cXML', async (t) => {
  const dtds = { cxml: officialSchema('cxml/cXML.dtd'), fulfil: officialSchema('cxml/Fulfill.dtd') }
  if (!dtds.cxml || !dtds.fulfil) return void t.pass('', { skip: 'the DTDs are not here' })
  if (spawnSync('xmllint', ['--version']).error) return void t.pass('', { skip: 'there is no xmllint' })
  for (const [dtd, xml] of [
    [dtds.cxml, writeCxmlResponse(basis, { ...content, code: 450, text: ['x'] })],
    [dtds.cxml, writeCxmlResponse(bare, { ...content, code: 200, text: [] })],
    [dtds.cxml, writeProfileResponse(basis, profile)],
    [dtds.fulfil, writeConfirmation(basis, { ...content, type: 'reject', confirmId: '1.2', reason: 'x' })],
    [dtds.fulfil, writeConfirmation(basis, { ...content, type: 'accept', confirmId: '1.2' })],
    [dtds.fulfil, writeConfirmation(bare, { ...content, type: 'accept', confirmId: '1.2' })]
  ] as const) {
    const { status, stderr } = spawnSync('xmllint', ['--nonet', '--noout', '--dtdvalid', dtd, '-'], { input: xml, encoding: 'utf8' })
    t.equal(status, 0, `${dtd} ${stderr}`)
  }
})

t.test('messages about cXML have a name for every element of an order', async (t) => {
  for (const name of [
    'order-number',
    'quantity',
    'product-id',
    'gtin',
    'unit-price',
    'line-id',
    'contact',
    'additional-street',
    'country'
  ]) {
    t.match(cxmlWords[name], /^[A-Za-z]+$/, name)
  }
})
