import t from 'tap'
import { document, faults, line, order, read, request, texts } from './documents.ts'

const reference = (number: string) => `<cac:OrderReference><cbc:ID>${number}</cbc:ID></cac:OrderReference>`
const status = (code: string) => `<cbc:LineStatusCode>${code}</cbc:LineStatusCode>`
const change = (content: string) =>
  document(
    'OrderChange',
    `<cbc:ID>CH-1</cbc:ID><cbc:IssueDate>2026-11-21</cbc:IssueDate><cbc:SequenceNumberID>2</cbc:SequenceNumberID>\n${content}`
  )
const cancellation = (content: string) => document('OrderCancellation', `<cbc:ID>CA-1</cbc:ID>\n${content}`)
const italian = (...ids: readonly string[]) =>
  order(ids.map((id) => `<cac:OrderDocumentReference><cbc:ID>${id}</cbc:ID></cac:OrderDocumentReference>`).join(''))

t.test('a change by lines follows their status codes', async (t) => {
  const lines = ['1', '2', '3', '4'].map((code) => line(`L${code}`, status(code), '')).join('')
  const xml = change(reference('PO-7') + lines)
  t.strictSame(faults(xml), [], 'lines need no product: their numbers name them')
  const { number, revision, order: whole, lines: changes } = request(xml, 'change-lines')
  t.strictSame(texts([number, revision, whole.orderNumber]), ['PO-7', '2', 'PO-7'])
  t.strictSame(
    changes.map(({ kind, item }) => [kind, item.lineId?.text]),
    [
      ['added', 'L1'],
      ['deleted', 'L2'],
      ['changed', 'L3'],
      ['untouched', 'L4']
    ]
  )
})

t.test('a line of a change names the parts of a destination that the change does not name for the whole order', async (t) => {
  const named = (name: string) => `<cac:DeliveryParty><cac:PartyName><cbc:Name>${name}</cbc:Name></cac:PartyName></cac:DeliveryParty>`
  const place = '<cac:DeliveryLocation><cbc:ID>7</cbc:ID></cac:DeliveryLocation>'
  const delivery = (content: string) => `<cac:Delivery>${content}</cac:Delivery>`
  const destinations = (header: string, ...lines: readonly string[]) => {
    const xml = change(header + reference('PO-7') + lines.join(''))
    t.strictSame(faults(xml), [])
    return request(xml, 'change-lines').lines.map(({ item: { destination: { address, recipient, place } = {} } }) =>
      [address?.from.local, place, recipient && texts(recipient)].filter((part) => part !== undefined).join(' ')
    )
  }
  const moved = line('1', status('3') + delivery(place + named('Works')))
  t.strictSame(destinations('', moved, line('2', status('2') + delivery(place)), line('3', status('3'))), [
    'DeliveryLocation 7 Works',
    '',
    ''
  ])
  t.strictSame(destinations('', line('1', status('1') + delivery(named('Works')))), ['Works'])
  t.strictSame(destinations(delivery(named('works')), moved), ['DeliveryLocation 7'])
  t.strictSame(destinations(delivery(place), moved), ['Works'])
  const yard = delivery('<cac:DeliveryLocation><cbc:Name>Yard</cbc:Name></cac:DeliveryLocation>')
  t.strictSame(destinations(yard, moved), ['DeliveryLocation 7 Works'], 'the party of a line, not the place of the change')
  t.strictSame(destinations(yard, line('1', status('3') + delivery(place))), ['DeliveryLocation 7'])
})

t.test('a change without status codes is the whole new order', async (t) => {
  const xml = change(`<cac:OrderReference><cbc:ID>PO-7</cbc:ID><cbc:IssueDate>2026-11-20</cbc:IssueDate></cac:OrderReference>${line()}`)
  const { number, revision, order: whole } = request(xml, 'replace')
  t.strictSame(texts([number, revision, whole.orderNumber, whole.items.length]), ['PO-7', '2', 'PO-7', 1])
  t.equal(whole.issueDate?.text, '2026-11-20', 'the order keeps the date on which it was issued')
  t.equal(request(change(reference('PO-7') + line()), 'replace').order.issueDate?.text, '2026-11-21')
})

t.test('a status code that the shop does not know is refused, and so is a line without one beside lines that have one', async (t) => {
  const lines = [line('1', status('5')), line('2', status('toString')), line('3'), line('4', status('4')), line('5', status('74'))].join(
    '\n'
  )
  t.strictSame(faults(change(reference('PO-7') + lines)), [
    'unknown-line-status 3 LineItem/LineStatusCode 1',
    'unknown-line-status 4 LineItem/LineStatusCode 2',
    'unknown-line-status 5 OrderLine[3]/LineItem 3',
    'unknown-line-status 7 LineItem/LineStatusCode 5'
  ])
  t.strictSame(faults(order('', line('1', status('NoStatus')))), [], 'in an order they mean nothing')
})

t.test('the content of a deleted line is not checked, and an untouched line takes what it lacks from the order', async (t) => {
  const allowance = '<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator><cbc:Amount>5</cbc:Amount></cac:AllowanceCharge>'
  const bare = (id: string, more: string) => line(id, more).replace(/<cbc:Quantity.*Quantity>/, '')
  t.strictSame(faults(change(reference('PO-7') + bare('1', status('2') + allowance) + bare('2', status('4')))), [])
  t.strictSame(faults(change(reference('PO-7') + bare('1', status('3')))), ['missing-value 3 OrderLine/LineItem 1'])
  t.strictSame(faults(change(reference('PO-7') + line('1', status('3') + allowance))), [
    'allowance-not-agreed 3 LineItem/AllowanceCharge 1'
  ])
})

t.test('a change or a cancellation names the one order that it is about', async (t) => {
  t.strictSame(faults(change(line())), ['missing-value 1 /OrderChange'])
  t.equal(read(change(line())).request.kind, 'unsupported')
  t.strictSame(faults(cancellation(reference(''))), ['missing-value 3 OrderReference/ID'])
  t.strictSame(faults(cancellation(reference('PO-7') + reference('PO-8'))), ['invalid-value 3 OrderReference[2]/ID'])
  t.strictSame(faults(cancellation(reference('PO-7') + reference('PO-7'))), [])
})

t.test('a copy of a change changes nothing; a copy of a cancellation cancels', async (t) => {
  const copy = '<cbc:CopyIndicator>true</cbc:CopyIndicator>'
  t.strictSame(faults(change(copy + reference('PO-7') + line())), ['unsupported-document 3 OrderChange/CopyIndicator'])
  t.strictSame(faults(cancellation(copy + reference('PO-7'))), [])
  t.equal(request(cancellation(copy + reference('PO-7')), 'cancel').number.text, 'PO-7')
})

t.test('a cancellation cancels, with its reason', async (t) => {
  const { number, reason } = request(cancellation(`<cbc:CancellationNote>too late</cbc:CancellationNote>${reference('PO-7')}`), 'cancel')
  t.strictSame(texts([number, reason]), ['PO-7', 'too late'])
})

t.test('the answer to a change names the order and the change', async (t) => {
  const { answer } = read(change(reference('PO-7') + line()))
  t.strictSame(answer, { vocabulary: 'ubl', document: 'OrderChange', orderNumber: 'PO-7', changeId: 'CH-1' })
  t.match(read(cancellation(reference('PO-7'))).answer, { document: 'OrderCancellation', orderNumber: 'PO-7', changeId: 'CA-1' })
})

t.test('an Italian order that revises another replaces it, under its own number', async (t) => {
  const xml = italian('PO-6#2026-11-01#ABCDEF#Revised')
  const { number, revision, order: whole } = request(xml, 'replace')
  t.strictSame(texts([number, revision, whole.orderNumber]), ['PO-6', undefined, 'PO-7'])
  t.strictSame(faults(xml), [])
  t.match(read(xml).answer, { document: 'Order', orderNumber: 'PO-7' })
  t.equal(request(italian('PO-6#Revised'), 'replace').number.text, 'PO-6')
})

t.test('an Italian order that cancels another is no order, whatever else it says', async (t) => {
  const xml = italian('PO-6#2026-11-01#ABCDEF#Cancelled').replace(/<cac:OrderLine>.*OrderLine>/s, '')
  t.equal(request(xml, 'cancel').number.text, 'PO-6')
  t.strictSame(faults(xml), [])
  t.match(read(xml).answer, { document: 'Order', orderNumber: 'PO-6' })
  for (const spelling of ['cancelled', 'CANCELLED', 'Canceled', ' Cancelled ']) {
    t.equal(read(italian(`PO-6#2026-11-01#ABCDEF#${spelling}`)).request.kind, 'cancel', spelling)
  }
})

t.test('an order that completes another, or only refers to it, is an order', async (t) => {
  for (const id of ['PO-6#2026-11-01#ABCDEF#Connected', 'PO-6', 'Cancelled', 'PO#Cancelled#2026']) {
    t.equal(read(italian(id)).request.kind, 'place', id)
    t.strictSame(faults(italian(id)), [], id)
  }
})

t.test('an order revises or cancels one other order, and says which', async (t) => {
  t.strictSame(faults(italian('#2026-11-01#ABCDEF#Cancelled')), ['missing-value 3 OrderDocumentReference/ID'])
  t.equal(read(italian('#Revised')).request.kind, 'unsupported')
  t.strictSame(faults(italian('PO-5#Revised', 'PO-6#Revised')), ['invalid-value 3 OrderDocumentReference[2]/ID'])
  t.strictSame(faults(italian('PO-6#Revised', 'PO-6#Cancelled')), ['invalid-value 3 OrderDocumentReference[2]/ID'])
})

t.test('a copy of a revision revises nothing', async (t) => {
  const xml = order(
    '<cbc:CopyIndicator>true</cbc:CopyIndicator><cac:OrderDocumentReference><cbc:ID>PO-6#Revised</cbc:ID></cac:OrderDocumentReference>'
  )
  t.equal(request(xml, 'place').copies, true)
})
