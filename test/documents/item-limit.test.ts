import t from 'tap'
import type { Job, Notation } from '../../documents/job.ts'
import { makeRunner } from '../../documents/run.ts'
import { line, order } from '../dialects/ubl/documents.ts'
import { watchParsed } from '../xml/watch-parsed.ts'

const most = 3
const limits = { maxOrderItems: most, marks: 1_000 }
/** Without the limit, the quantity of each item would be refused. */
const item = '<item><product-id>A</product-id><quantity>-1</quantity></item>\n'
const shippedItem = '<item line="1"><quantity>-1</quantity></item>\n'
const field = (i: number) => `item.${2 * i}.product-id=A&item.${2 * i}.quantity=-1`
const items = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** Documents with a number of items, and the place of the item after the last that they may have. */
const documents: Readonly<Record<string, readonly [Notation, schema: string, text: (count: number) => string, place: object]>> = {
  'an order in XML': [
    'xml',
    'purchase-order',
    (count) => `<purchase-order>\n${item.repeat(count)}</purchase-order>`,
    { line: 5, path: '/purchase-order/item[4]' }
  ],
  'a changed order': ['xml', 'changed-order', (count) => `<order>\n${item.repeat(count)}</order>`, { line: 5, path: '/order/item[4]' }],
  'an order in JSON': [
    'json',
    'purchase-order',
    (count) => JSON.stringify({ item: Array(count).fill({ productId: 'A', quantity: -1 }) }),
    { path: '/item/3' }
  ],
  'an order in a form, whose rows have gaps': ['form', 'purchase-order', (count) => items(count).map(field).join('&'), { path: 'item.8' }],
  'an order in UBL': [
    'xml',
    'purchase-order',
    (count) =>
      order(
        '<cbc:IssueDate>?</cbc:IssueDate>',
        items(count)
          .map((i) => `${line(String(i))}\n`)
          .join('')
      ),
    { line: 7, path: '/Order/cac:OrderLine[4]/cac:LineItem', item: '4' }
  ],
  'a status': [
    'xml',
    'order-status',
    (count) => `<order-status>\n<status>confirmed</status>\n${'<item line="-1"/>\n'.repeat(count)}</order-status>`,
    { line: 6, path: '/order-status/item[4]' }
  ],
  'a shipment': [
    'xml',
    'shipment',
    (count) => `<shipment>\n${shippedItem.repeat(count)}</shipment>`,
    { line: 5, path: '/shipment/item[4]' }
  ]
}

t.test('a document with more items than an order may have is refused before libxml2 parses it', async (t) => {
  let parsed = 0
  watchParsed(t, () => parsed++)
  const run = makeRunner()
  for (const [name, [notation, schema, text, place]] of Object.entries(documents)) {
    const read = (count: number) => {
      const job: Job = { kind: 'read', notation, bytes: Buffer.from(text(count)), schema, limits }
      return [...run([job])][0]
    }
    read(most)
    t.ok(parsed > 0, `${name} with ${most} items is validated`)
    parsed = 0
    const outcome = read(most + 1)
    t.equal(parsed, 0, `${name} with ${most + 1} items is not`)
    const faults = outcome && 'refusal' in outcome ? outcome.refusal.faults : []
    t.match(
      faults.find(({ code }) => code === 'too-many-items'),
      { detail: `An order may have ${most} items at most; this document has ${most + 1}.`, ...place }
    )
  }
})
