import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import type { PartyIdentity, UblAnswerBasis } from '../../../dialects/buyer-document.ts'
import { type OrderResponseContent, writeOrderResponse } from '../../../dialects/ubl/order-response.ts'
import { find, trimmedText } from '../../../dialects/xml-element.ts'
import { officialSchema } from '../samples.ts'
import { elements, texts } from './documents.ts'

const party: PartyIdentity = {
  endpoint: { id: '7300010000001', scheme: '0088' },
  identifications: [{ id: '5541277710', scheme: '0007' }, { id: '12' }],
  registrationName: 'Nuts & Bolts <AB>'
}
const basis: UblAnswerBasis = {
  vocabulary: 'ubl',
  document: 'Order',
  orderNumber: 'PO-7',
  customerReference: 'desk "4"',
  seller: party,
  buyer: party
}
const content: OrderResponseContent = {
  id: 'o1.1',
  salesOrderId: 'o1',
  code: 'AP',
  reasons: [],
  currency: 'EUR',
  at: Date.UTC(2026, 10, 22, 9, 5, 7, 890)
}
const { salesOrderId: _, ...refusal } = {
  ...content,
  code: 'RE',
  reasons: ['line 3: no\n such  product', '', 'line 4: ]]> & more']
} as const

/** All elements with a text, by their path without prefixes. */
function leaves(xml: string): readonly string[] {
  const walk = ({ local, children, ...element }: ReturnType<typeof elements>, path: string): readonly string[] =>
    children.length > 0
      ? children.flatMap((child) => walk(child, path === '' ? child.local : `${path}/${child.local}`))
      : [`${path}${element.attributes['schemeID'] ? `@${element.attributes['schemeID']}` : ''}: ${element.text}`]
  return walk(elements(xml), '')
}

t.test('an order that is accepted', async (t) => {
  t.strictSame(leaves(writeOrderResponse(basis, content)), [
    'ID: o1.1',
    'SalesOrderID: o1',
    'IssueDate: 2026-11-22',
    'IssueTime: 09:05:07Z',
    'OrderResponseCode: AP',
    'DocumentCurrencyCode: EUR',
    'CustomerReference: desk "4"',
    'OrderReference/ID: PO-7',
    ...['SellerSupplierParty', 'BuyerCustomerParty'].flatMap((name) => [
      `${name}/Party/EndpointID@0088: 7300010000001`,
      `${name}/Party/PartyIdentification/ID@0007: 5541277710`,
      `${name}/Party/PartyIdentification/ID: 12`,
      `${name}/Party/PartyLegalEntity/RegistrationName: Nuts & Bolts <AB>`
    ])
  ])
})

t.test('a refusal has all reasons in one note, a line each', async (t) => {
  const notes = leaves(writeOrderResponse(basis, refusal)).filter((leaf) => leaf.startsWith('Note'))
  t.strictSame(notes, ['Note: line 3: no such product\nline 4: ]]> & more'])
})

t.test('Peppol 3 has its customization and profile in the answer', async (t) => {
  const ordering = leaves(writeOrderResponse({ ...basis, profile: 'ordering' }, content))
  t.match(ordering[0], 'CustomizationID: urn:fdc:peppol.eu:poacc:trns:order_response:3')
  t.match(ordering[1], 'ProfileID: urn:fdc:peppol.eu:poacc:bis:ordering:3')
  const advanced = leaves(writeOrderResponse({ ...basis, profile: 'advanced' }, content))
  t.match(advanced[0], 'CustomizationID: urn:fdc:peppol.eu:poacc:trns:order_response_advanced:3')
  t.match(advanced[1], 'ProfileID: urn:fdc:peppol.eu:poacc:bis:advanced_ordering:3')
})

t.test('only the answer to an OrderChange of advanced ordering names the change: UBL 2.1 has no element for it', async (t) => {
  const named = (more: Partial<UblAnswerBasis>) =>
    leaves(writeOrderResponse({ ...basis, changeId: 'CH-1', ...more }, content)).find((leaf) =>
      leaf.startsWith('OrderChangeDocumentReference')
    )
  t.equal(named({ document: 'OrderChange', profile: 'advanced' }), 'OrderChangeDocumentReference/ID: CH-1')
  t.equal(named({ document: 'OrderChange', profile: 'ordering' }), undefined)
  t.equal(named({ document: 'OrderChange' }), undefined)
  t.equal(named({ document: 'OrderCancellation', profile: 'advanced' }), undefined)
})

t.test('elements that UBL or Peppol requires are written even without a value', async (t) => {
  t.strictSame(leaves(writeOrderResponse({ vocabulary: 'ubl', document: 'Order' }, { ...refusal, id: 'r1' })).slice(-3), [
    'OrderReference/ID: NA',
    'SellerSupplierParty/Party/PartyLegalEntity/RegistrationName: NA',
    'BuyerCustomerParty/Party/PartyLegalEntity/RegistrationName: NA'
  ])
})

t.test('nothing is empty', async (t) => {
  const blank: PartyIdentity = { endpoint: { id: ' ', scheme: '' }, identifications: [{ id: '' }], registrationName: ' ' }
  const xml = writeOrderResponse({ ...basis, customerReference: '', seller: blank }, { ...content, reasons: [' '] })
  t.notMatch(xml, /\/>|><\/|schemeID=""/)
})

t.test('characters that XML cannot hold are replaced', async (t) => {
  const xml = writeOrderResponse({ ...basis, orderNumber: 'a\u0000\ud800b\u{1f600}' }, content)
  t.equal(trimmedText(find(elements(xml), 'OrderReference', 'ID')), 'a\ufffd\ufffdb\u{1f600}')
})

t.test('a note stays under 60,000 characters and says how many reasons it leaves out', async (t) => {
  const note = (reasons: readonly string[]) =>
    texts(trimmedText(find(elements(writeOrderResponse(basis, { ...refusal, reasons })), 'Note')) ?? '') as string
  const many = note(Array.from({ length: 2000 }, (_, i) => `reason ${i} ${'x'.repeat(50)}`))
  const lines = many.split('\n')
  t.ok(many.length < 60_000)
  t.equal(lines.at(-1), `${2000 - (lines.length - 1)} more reasons are left out.`)
  t.match(note(['first', 'x'.repeat(70_000), 'last']), /^first\nx|2 more reasons are left out\.$/)
  t.ok(note(['x'.repeat(70_000)]).length < 60_000)
})

/** All kinds of answers, with the version of UBL that each must be valid by. */
function* answers(): Generator<{ readonly version: '2.1' | '2.2'; readonly xml: string }> {
  const bases: readonly UblAnswerBasis[] = [
    basis,
    { vocabulary: 'ubl', document: 'Order' },
    { ...basis, buyer: { identifications: [] } },
    { ...basis, seller: { endpoint: { id: '1', scheme: '0088' }, identifications: [] } }
  ]
  const contents = [
    content,
    { ...content, code: 'AB' },
    { ...content, code: 'RE', reasons: ['no'] },
    refusal,
    { ...content, promisedDate: '2026-12-03Z' }
  ] as const
  const kinds = (['Order', 'OrderChange', 'OrderCancellation'] as const).flatMap((document) =>
    [{ document }, { document, profile: 'ordering' as const }, { document, profile: 'advanced' as const }].map((kind) => ({
      ...kind,
      changeId: 'CH-1'
    }))
  )
  for (const kind of kinds) {
    const version = 'profile' in kind && kind.profile === 'advanced' ? '2.2' : '2.1'
    for (const one of bases) for (const answer of contents) yield { version, xml: writeOrderResponse({ ...one, ...kind }, answer) }
  }
}

t.test('every answer is valid by the XSD of UBL 2.1, or of 2.2 if it is of advanced ordering', async (t) => {
  const isHere = spawnSync('xmllint', ['--version']).status === 0
  for (const version of ['2.1', '2.2']) {
    const schema = officialSchema(`ubl-${version}/maindoc/UBL-OrderResponse-${version}.xsd`)
    if (!isHere || !schema) {
      t.pass('', { skip: `xmllint or the XSD of UBL ${version} is not here` })
      continue
    }
    const documents = [...answers()].filter((one) => one.version === version).map(({ xml }, i) => [`${i}.xml`, xml])
    const folder = t.testdir(Object.fromEntries(documents))
    const files = documents.map(([name = '']) => join(folder, name))
    const { status, stderr } = spawnSync('xmllint', ['--noout', '--nonet', '--schema', schema, ...files], { encoding: 'utf8' })
    const errors = stderr.split('\n').filter((one) => !one.endsWith(' validates'))
    t.equal(status, 0, errors.join('\n'))
    t.equal(stderr.match(/ validates$/gm)?.length, files.length)
  }
})
