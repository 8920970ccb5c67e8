import t from 'tap'
import type { Job } from '../../documents/job.ts'
import { makeRunner } from '../../documents/run.ts'
import { line, order } from '../dialects/ubl/documents.ts'
import { watchParsed } from '../xml/watch-parsed.ts'

const limits = { maxOrderItems: 10_000, marks: 200_000 }
const small = 3
/** So many items have more markup than is validated at once. */
const large = 3_000

/** Each has a fault in its first item. */
const documents = {
  json: (items: number) =>
    JSON.stringify({ item: [{ productId: 'A', quantity: -1 }, ...Array(items - 1).fill({ productId: 'A', quantity: 1 })] }),
  form: (items: number) =>
    Array.from({ length: items }, (_, i) => `item.${i + 1}.product-id=A&item.${i + 1}.quantity=${i === 0 ? -1 : 1}`).join('&'),
  xml: (items: number) =>
    order(
      '',
      line().replace('>2<', `>${'9'.repeat(30)}<`) +
        Array(items - 1)
          .fill(line('1'))
          .join('')
    )
}

t.test('libxml2 makes no node of white space in a document that is written to be validated', async (t) => {
  const parsed: string[] = []
  watchParsed(t, (document) => parsed.push(document.toString()))
  const run = makeRunner()
  for (const [notation, text] of Object.entries(documents)) {
    for (const items of [small, large]) {
      const job: Job = {
        kind: 'read',
        notation: notation as keyof typeof documents,
        bytes: Buffer.from(text(items)),
        schema: 'purchase-order',
        limits
      }
      parsed.length = 0
      Array.from(run([job]))
      t.ok(parsed.length > 0, `${notation} with ${items} items is validated`)
      t.notOk(
        parsed.some((xml) => />\s+</.test(xml)),
        'as elements without white space between them'
      )
    }
  }
})
