import t from 'tap'
import type { OrderDraft } from '../../dialects/buyer-document.ts'
import { type BuiltOrder, buildPurchaseOrder } from '../../dialects/purchase-order.ts'
import { cxmlPieces, ublPieces } from '../../dialects/units.ts'
import type { Element } from '../../schemas/element.ts'
import { writeElement } from '../../schemas/xml.ts'
import { draft, line, order, price } from './ubl/documents.ts'

const built = (header = '', lines = line(), isChange = false): BuiltOrder =>
  buildPurchaseOrder(draft(order(header, lines)), { pieces: ublPieces, isChange })
const texts = (element: Element, name: string): readonly string[] => [
  ...(element.name === name ? [element.text ?? ''] : []),
  ...(element.children ?? []).flatMap((child) => texts(child, name))
]
const codes = ({ faults }: BuiltOrder) => faults.map(({ code, item, path }) => `${code} ${item} ${path.split('/').at(-1)}`)
const sellers = (id: string) => `<cac:SellersItemIdentification><cbc:ID>${id}</cbc:ID></cac:SellersItemIdentification>`
const gtin = (id: string) => `<cac:StandardItemIdentification><cbc:ID schemeID="0160">${id}</cbc:ID></cac:StandardItemIdentification>`
const priced = (amount: string, more = '') => line('1', price(amount, 'EUR', more))

t.test('the purchase order of a draft has only elements of the shop’s vocabulary', async (t) => {
  const { root } = built('<cbc:IssueDate>2026-11-20</cbc:IssueDate><cbc:Note>x</cbc:Note>')
  t.equal(
    writeElement(root).replace(/>\s+</g, '><'),
    '<purchase-order><order-number>PO-7</order-number><issue-date>2026-11-20</issue-date><note>x</note><item><line-id>1</line-id><product-id>bolt-8</product-id><quantity>2</quantity></item></purchase-order>'
  )
})

t.test('every element says where it is from', async (t) => {
  const { root, locate } = built()
  const [, item] = root.children ?? []
  const pathOf = ({ origin = '' }) => locate(origin)?.path ?? ''
  t.equal(item && pathOf(item), '/Order/cac:OrderLine/cac:LineItem')
  t.same(
    item?.children?.map((child) => pathOf(child).split('/').slice(4).join('/')),
    ['cbc:ID', 'cac:Item/cac:SellersItemIdentification/cbc:ID', 'cbc:Quantity']
  )
  for (const { origin = '' } of item?.children ?? []) t.ok((locate(origin)?.line ?? 0) > 1, origin)
  t.equal(locate('x'), undefined)
})

t.test('decimals lose trailing zeros and signs', async (t) => {
  for (const [sent, expected] of [
    ['2.0000', '2'],
    ['002.50', '2.5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['+3', '3'],
    ['000000000000123456789.125', '123456789.125'],
    ['0.001', '0.001']
  ] as const) {
    const { root, faults } = built('', line().replace('>2<', `>${sent}<`))
    t.same(texts(root, 'quantity'), [expected], sent)
    t.same(faults, [])
  }
})

t.test('a text that is no quantity is a fault, and the rest of the order is still checked', async (t) => {
  for (const sent of ['1e3', '-1', '0', '0.000', '1,5', '0x10', '1.2345', '1234567890', '9'.repeat(50)]) {
    const order = built('', line().replace('>2<', `>${sent}<`))
    t.same(codes(order), ['invalid-value 1 cbc:Quantity'], sent)
    t.same([texts(order.root, 'quantity'), order.quoted[0]?.isUncounted], [['1'], true])
  }
  const [fault] = built('', line().replace('>2<', '>-1<')).faults
  const wanted = 'a number above 0 with up to 9 digits and up to 3 fraction digits, such as 3 or 2.5'
  t.equal(fault?.detail, `The quantity is "-1"; it must be ${wanted}.`)
  const header = built(`<cbc:DocumentCurrencyCode>euro</cbc:DocumentCurrencyCode>`)
  t.match(header.faults, [{ code: 'invalid-value', detail: /"euro".*ISO 4217/, path: '/Order/cbc:DocumentCurrencyCode' }])
})

t.test('a price keeps the decimals that it was written with', async (t) => {
  const quoted = (amount: string, more = '') => built('', priced(amount, more)).quoted[0]?.price
  t.same(quoted('9.50000'), { amount: '9.50000', base: '1' })
  t.same(quoted('10.00'), { amount: '10.00', base: '1' })
  t.same(quoted('.5', '<cbc:BaseQuantity>100.0</cbc:BaseQuantity>'), { amount: '0.5', base: '100' })
  t.equal(built().quoted[0]?.price, undefined)
  const { origins, locate } = built('', priced('9.50'))
  t.same(locate(origins[0]?.get('unit-price') ?? '')?.path, '/Order/cac:OrderLine/cac:LineItem/cac:Price/cbc:PriceAmount')
  t.same([...(origins[0]?.keys() ?? [])], ['unit-price', 'quantity/unit'], 'by their whole places')
  for (const [amount, more, fault] of [
    ['-1', '', 'invalid-value 1 cbc:PriceAmount'],
    ['9,50', '', 'invalid-value 1 cbc:PriceAmount'],
    ['1'.repeat(41), '', 'invalid-value 1 cbc:PriceAmount'],
    ['1', '<cbc:BaseQuantity>0.00</cbc:BaseQuantity>', 'invalid-value 1 cbc:BaseQuantity'],
    ['1', '<cbc:BaseQuantity>x</cbc:BaseQuantity>', 'invalid-value 1 cbc:BaseQuantity'],
    ['1', '<cbc:BaseQuantity unitCode="BX">1</cbc:BaseQuantity>', 'invalid-value 1 cbc:BaseQuantity']
  ] as const) {
    t.same(codes(built('', priced(amount, more))), [fault], `${amount} ${more}`)
  }
  t.same(codes(built('', priced('1', '<cbc:BaseQuantity unitCode="EA">1</cbc:BaseQuantity>'))), [], 'pieces are one unit')
  const converted = '<cbc:BaseQuantity unitCode="BX">1</cbc:BaseQuantity><cbc:OrderableUnitFactorRate>0.1</cbc:OrderableUnitFactorRate>'
  t.same(codes(built('', priced('1', converted))), [], 'a factor says how many')
})

t.test('codes that mean one unit are one, and nothing else converts', async (t) => {
  const units = (code: string, pieces: readonly string[] = ublPieces) => {
    const { from, ...rest } = draft(order('', line().replace('"C62"', `"${code}"`)))
    return buildPurchaseOrder({ from, ...rest }, { pieces }).quoted[0]?.units
  }
  t.same(units('EA'), ['EA', 'C62', 'H87', 'NAR'])
  t.same(units('PCE'), ['PCE'])
  t.same(units('PCE', cxmlPieces), ['PCE', 'C62', 'EA', 'H87', 'NAR', 'PC'])
  for (const [short, long] of Object.entries({ KG: 'KGM', G: 'GRM', L: 'LTR', M: 'MTR', M2: 'MTK', M3: 'MTQ', H: 'HUR' })) {
    t.same(units(short), [short, long])
    t.same(units(long), [long])
  }
  for (const code of ['BX', 'DZN', 'XPK', 'ea', 'ZZ']) t.same(units(code), [code])
})

t.test('a line is named by the seller’s id, then its GTIN', async (t) => {
  const named = (item: string) => {
    const { root, quoted, faults } = built('', line('1', '', item))
    return [...texts(root, 'product-id'), ...texts(root, 'gtin'), quoted[0]?.alsoNamed, faults.map(({ code }) => code)]
  }
  t.same(named(sellers('bolt-8')), ['bolt-8', [], []])
  t.same(named(sellers('bolt-8') + gtin('4006381333931')), ['bolt-8', [{ gtin: '4006381333931' }], []])
  t.same(named(gtin('04006381333931')), ['04006381333931', [], []])
  t.same(named(gtin('36000291452')), ['00036000291452', [], []], 'a system that keeps it as a number lost its zeros')
  t.same(named(gtin('4006381333932')), ['-', [], ['free-text-line']], 'a wrong check digit')
  t.same(named(sellers('a b') + gtin('4006381333931')), ['4006381333931', [], []], 'no product has such an id')
  t.same(named(sellers('a b')), ['-', [], ['unknown-product']])
  for (const id of ['Non Catalog Item', 'NOT AVAILABLE', 'n/a']) t.same(named(sellers(id)), ['-', [], ['free-text-line']], id)
  t.same(named(''), ['-', [], ['free-text-line']])
  t.same(built('', line('1', '', ''), true).quoted, [{ alsoNamed: [], units: ublPieces, isUnnamed: true }], 'of a change')
})

t.test('a value that the vocabulary cannot hold is left out, and nothing is refused for it', async (t) => {
  const contact = `<cac:BuyerCustomerParty><cac:Party><cac:PostalAddress><cac:Country><cbc:IdentificationCode>Germany</cbc:IdentificationCode></cac:Country></cac:PostalAddress>
<cac:Contact><cbc:Name>${'n'.repeat(300)}</cbc:Name><cbc:Telephone>${'1'.repeat(70)}</cbc:Telephone><cbc:ElectronicMail>nobody</cbc:ElectronicMail></cac:Contact></cac:Party></cac:BuyerCustomerParty>`
  const { root, faults } = built(
    `<cbc:IssueDate>2026-02-30</cbc:IssueDate><cbc:Note>${'x'.repeat(4001)}</cbc:Note>${contact}`,
    line('y'.repeat(65))
  )
  for (const name of ['buyer', 'issue-date', 'note', 'line-id']) t.same(texts(root, name), [], name)
  t.same(faults, [])
})

t.test('a date has no time, and what only begins like a date is left out', async (t) => {
  const dates = {
    '2026-04-20T23:30:00-07:00': '2026-04-20',
    '2026-11-20Z': '2026-11-20',
    '2026-11-215': undefined,
    '2026-02-30': undefined
  }
  for (const [sent, read] of Object.entries(dates)) {
    t.same(texts(built(`<cbc:IssueDate>${sent}</cbc:IssueDate>`).root, 'issue-date'), read ? [read] : [], sent)
  }
})

t.test('no more than a hundred notes, extensions and faults', async (t) => {
  const notes = Array.from({ length: 150 }, (_, i) => `<cbc:Note>n${i}</cbc:Note>`).join('')
  t.equal(texts(built(notes).root, 'note').length, 100)
  const free = Array.from({ length: 150 }, (_, i) => line(String(i), '', '')).join('')
  t.equal(built('', free).faults.length, 100)
  const given: OrderDraft = draft(order())
  const extensions = Array.from({ length: 150 }, (_, i) => ({ name: `e${i}${'x'.repeat(80)}`, value: { text: 'v', from: given.from } }))
  const { root } = buildPurchaseOrder({ ...given, extensions }, { pieces: ublPieces })
  const names = (root.children ?? []).filter(({ name }) => name === 'extension').map(({ attributes }) => attributes?.['name'] ?? '')
  t.equal(names.length, 100)
  t.ok(
    names.every((name) => /^e\d+x+…$/.test(name) && name.length === 64),
    'a long name is cut once, and shows it'
  )
})
