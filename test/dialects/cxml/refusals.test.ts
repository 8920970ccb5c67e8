import t from 'tap'
import { codes, draftOf, envelope, line, order, read, shipTo } from './documents.ts'

const lineOf = (number: number, attributes = '', more: Parameters<typeof line>[0] = {}) =>
  line({ attributes: `lineNumber="${number}0" quantity="1"${attributes}`, ...more })

t.test('order types that the shop does not take are refused by name', async (t) => {
  for (const [type, code] of [
    ['blanket', 'blanket-order'],
    ['stockTransport', 'stock-transfer'],
    ['stockTransportRelease', 'stock-transfer'],
    ['constructor', 'unknown-order-type']
  ] as const) {
    t.match(read(order({ attributes: ` orderType="${type}"` })).faults, [
      { code, line: 10, path: '/cXML/Request/OrderRequest/OrderRequestHeader/@orderType', item: undefined }
    ])
  }
  for (const type of ['regular', 'release']) t.same(read(order({ attributes: ` orderType="${type}"` })).faults, [])
  t.match(read(order({ attributes: ' type="swap"' })).faults, [{ code: 'unknown-order-type', detail: /"swap" is not known/ }])
})

t.test('a missing element is refused by its name', async (t) => {
  const missing = (content: string) => read(envelope(`<Request><OrderRequest>${content}</OrderRequest></Request>`))
  t.match(missing('').faults, [{ code: 'missing-value', detail: /no OrderRequestHeader/ }])
  t.match(missing('<OrderRequestHeader/><ItemOut/>').faults, [
    { detail: /no orderID/ },
    { detail: /no quantity/, path: '/cXML/Request/OrderRequest/ItemOut', item: '1' }
  ])
  t.match(missing('<OrderRequestHeader orderID="1"/>').faults, [{ detail: /no ItemOut/, path: '/cXML/Request/OrderRequest' }])
  t.same(missing('<OrderRequestHeader type="update"/><ItemOut quantity="1"/>').request.kind, 'place')
  t.same(missing('<OrderRequestHeader type="delete"/>').request.kind, 'unsupported')
})

t.test('lines that are no plain purchase are refused by name', async (t) => {
  for (const [xml, code, path] of [
    [lineOf(1, ' itemType="composite"'), 'item-set', '/ItemOut/@itemType'],
    [lineOf(1, ' itemType="item" parentLineNumber="5"'), 'item-set', '/ItemOut/@parentLineNumber'],
    [lineOf(1, ' isReturn="yes"'), 'return-item', '/ItemOut/@isReturn'],
    [lineOf(1, ' itemCategory="stockTransfer"'), 'stock-transfer', '/ItemOut/@itemCategory'],
    [lineOf(1, ' stockTransferType="intra"'), 'stock-transfer', '/ItemOut/@stockTransferType'],
    [lineOf(1, ' operation="block"'), 'invalid-value', '/ItemOut/@operation'],
    [lineOf(1, '', { rest: '<BlanketItemDetail/>' }), 'blanket-order', '/ItemOut/BlanketItemDetail'],
    [lineOf(1, '', { rest: '<ReleaseInfo releaseType="jit"/>' }), 'schedule-release', '/ItemOut/ReleaseInfo']
  ] as const) {
    const { faults } = read(order({ items: xml }))
    t.match(faults, [{ code, path: `/cXML/Request/OrderRequest${path}`, item: '10', line: Number }])
    t.equal(faults.length, 1)
  }
  t.same(read(order({ items: lineOf(1, ' itemType="item" isReturn="no" itemCategory="consignment"') })).faults, [])
})

t.test('a line that is to come on several dates has the earliest, and a note of all', async (t) => {
  const schedule = (...dates: string[]) => dates.map((date) => `<ScheduleLine quantity="1" requestedDeliveryDate="${date}"/>`).join('')
  const itemOf = (rest: string) => {
    const document = read(order({ items: lineOf(2, '', { rest }) }))
    t.same(document.faults, [])
    const { requestedDeliveryDate, notes = [] } = draftOf(document).items[0] ?? {}
    return { date: requestedDeliveryDate?.text, notes: notes.map(({ text }) => text) }
  }
  t.same(itemOf(schedule('2026-05-01T08:00:00', '2026-05-01T12:00:00')), { date: '2026-05-01', notes: [] })
  t.same(itemOf(schedule('2026-05-03', '2026-05-01')), { date: '2026-05-01', notes: ['ScheduleLine: 1 on 2026-05-03, 1 on 2026-05-01'] })
})

t.test('deductions are refused, and offered charges are noted', async (t) => {
  const modified = (content: string) =>
    `<Money currency="EUR">9.50</Money><Modifications><Modification>${content}</Modification></Modifications>`
  const deduction = '<AdditionalDeduction><DeductionPercent percent="5"/></AdditionalDeduction>'
  t.match(read(order({ items: lineOf(1, '', { price: modified(deduction) }) })).faults, [
    { code: 'allowance-not-agreed', item: '10', detail: /UnitPrice/ }
  ])
  const total = order().replace('<Money currency="EUR">19.00</Money>', modified(deduction))
  t.match(read(total).faults, [{ code: 'allowance-not-agreed', item: undefined, detail: /Total/ }])
  const charge = '<AdditionalCost><Money currency="EUR">4</Money></AdditionalCost>'
  const charged = read(
    order({ items: lineOf(1, '', { price: modified(charge) + modified('<AdditionalCost><Percentage percent="2"/></AdditionalCost>') }) })
  )
  t.same(charged.faults, [])
  t.same(
    draftOf(charged).items[0]?.notes.map(({ text }) => text),
    ['AdditionalCost: 4 EUR, not billed']
  )
})

t.test('all prices are in one currency', async (t) => {
  const priced = (number: number, currency: string) => lineOf(number, '', { price: `<Money currency="${currency}">1</Money>` })
  const document = read(order({ items: priced(1, 'USD') + priced(2, 'usd') + priced(3, '') + priced(4, 'EUR') }))
  t.same(codes(document), ['two-currencies 40'])
  t.match(document.faults, [{ detail: /"EUR".+"USD"/, path: '/cXML/Request/OrderRequest/ItemOut[4]/ItemDetail/UnitPrice/Money/@currency' }])
  t.equal(draftOf(document).currency?.text, 'USD')
  t.equal(draftOf(read(order({ items: '<ItemOut quantity="1"/>' }))).currency?.text, 'EUR', 'without prices, the currency of the Total')
})

t.test('an order goes to one address', async (t) => {
  const orderTo = (header: string, ...lines: string[]) =>
    read(order({ header, items: lines.map((rest, i) => lineOf(i + 1, '', { rest })).join('') }))
  const bare = (attributes: string, name = '') => `<ShipTo><Address ${attributes}><Name>${name}</Name></Address></ShipTo>`
  const unnamed = (street: string) => shipTo(street).replace('Plant North', '')
  const named = (name: string) => shipTo('A').replace('Plant North', name)
  const id = (addressId: string, name = 'Plant North') => bare(`addressID="${addressId}"`, name)
  const street = (name: string, city = '') =>
    `<ShipTo><Address><PostalAddress><Street>${name}</Street><City>${city}</City></PostalAddress></Address></ShipTo>`
  const withId = (addressId: string) => street('A').replace('<Address', `<Address addressID="${addressId}"`)
  const inSchedule = `<ScheduleLine quantity="1">${shipTo('B')}</ScheduleLine>`
  for (const [title, header, lines, found] of [
    ['the same on all lines', '', [shipTo('A'), shipTo(' a ')], []],
    ['only on some lines', '', [shipTo('A'), ''], []],
    ['the same as the header', shipTo('A'), [shipTo('A'), ''], []],
    ['another person', shipTo('A'), [shipTo('A', '<DeliverTo>Jo</DeliverTo>')], []],
    ['a line that only names it', shipTo('A'), [bare('addressID="X" addressIDDomain="buyer"', 'Plant North'), bare('addressID="12"')], []],
    ['a line that says nothing', shipTo('A'), [bare('')], []],
    ['two lines', '', [shipTo('A'), shipTo('B')], ['several-addresses 20']],
    ['header and line', shipTo('A'), ['', shipTo('B')], ['several-addresses 20']],
    ['another id of the same kind', shipTo('A'), [bare('addressID="13"', 'Plant North')], ['several-addresses 10']],
    ['only another id', shipTo('A'), [bare('addressID="13"')], ['several-addresses 10']],
    ['another name', shipTo('A'), [bare('', 'Plant South')], ['several-addresses 10']],
    ['a header without an address', bare('', 'Plant North'), [shipTo('A'), shipTo('B')], ['several-addresses 20']],
    ['a header with another name', bare('', 'Plant South'), [shipTo('A')], ['several-addresses']],
    ['a ScheduleLine', shipTo('A'), [inSchedule], ['several-addresses 10']],
    ['lines that agree with each other', unnamed('A'), [named('North'), named(' NORTH '), bare('', 'north')], []],
    ['lines with different names', unnamed('A'), [named('North'), '', named('South')], ['several-addresses 30']],
    ['different names without any address', bare('addressID="12"'), [id('12', 'North'), id('12', 'South')], ['several-addresses 20']],
    ['lines with different ids', shipTo('A').replace('addressID="12"', ''), [id('13'), id('14')], ['several-addresses 20']],
    ['parts that the header leaves out', street('A'), [street('A', 'Delft'), street('A', 'Gouda')], ['several-addresses 20']],
    ['an id before its address', bare('addressID="7"'), [street('A'), withId('7')], []],
    ['an id after its address', street('A'), [withId('7'), bare('addressID="7"')], []],
    ['a name before its address', bare('', 'North'), [unnamed('A'), named('North')], []],
    ['an id and a name that a third connects', bare('addressID="7"'), [bare('', 'North'), id('7', 'North')], []],
    ['two ids at one address', withId('1'), [withId('2'), bare('addressID="2"'), bare('addressID="1"')], []],
    ['a third id', withId('1'), [withId('2'), bare('addressID="3"')], ['several-addresses 20']],
    ['a refused line, which decides nothing', street('A'), [street('B', 'Delft'), street('A', 'Gouda')], ['several-addresses 10']]
  ] as const) {
    t.same(codes(orderTo(header, ...lines)), found, title)
  }
  const noted = draftOf(orderTo(shipTo('A'), shipTo('A', '<DeliverTo>Jo</DeliverTo>')))
  t.same(
    noted.items[0]?.notes.map(({ text }) => text),
    ['DeliverTo: Jo']
  )
  t.match(orderTo(unnamed('A'), named('North'), named('South')).faults, [
    {
      detail: 'The ShipTo names another recipient than that of line 10. One order goes to one recipient: send an order for each recipient.'
    }
  ])
  t.match(draftOf(orderTo(unnamed('A'), named('North'))).shipTo, { name: { text: 'North' }, address: { street: { text: 'A' } } })
  t.match(draftOf(orderTo(bare('addressID="12"', 'North'), unnamed('A'))).shipTo, { name: { text: 'North' }, address: {} })
  t.match(draftOf(orderTo('', '', shipTo('Dock 4'))).shipTo, { name: { text: 'Plant North' }, address: { street: { text: 'Dock 4' } } })
})

t.test('a hundred faults are listed', async (t) => {
  const { faults } = read(order({ items: lineOf(1, ' isReturn="yes"').repeat(150) }))
  t.equal(faults.length, 100)
})
