import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { readVocabulary } from '../../schemas/vocabulary.ts'
import { partFor } from '../../xml/schema-part.ts'

const folder = new URL('../../schemas/', import.meta.url)

/** Without what is only for people. */
const meaning = (value: unknown) => JSON.parse(JSON.stringify(value, (key, part) => (key === 'documentation' ? undefined : part)))

t.test('the part of a schema that a root needs says of it what the whole says', async (t) => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.xsd'))) {
    const whole = readFileSync(new URL(file, folder), 'utf8')
    for (const [root, type] of readVocabulary(whole)) {
      const part = readVocabulary(partFor(whole, [root]))
      t.same(meaning(part.get(root)), meaning(type), `${root} of ${file}`)
    }
  }
})

t.test('it has nothing that its roots do not need', async (t) => {
  const whole = readFileSync(new URL('purchase-order.xsd', folder), 'utf8')
  const part = partFor(whole, ['purchase-order'])
  t.same([...readVocabulary(part).keys()], ['purchase-order'])
  t.notMatch(part, /annotation|order-summary|linked-product-id|xs:complexType name="order"/)
  t.ok(part.length < 0.6 * whole.length)
  t.same([...readVocabulary(partFor(whole, ['purchase-order', 'order'])).keys()], ['purchase-order', 'order'])
})
