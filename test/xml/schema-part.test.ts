import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { documentSchemas } from '../../documents/schemas.ts'
import { readVocabulary, rootType } from '../../schemas/vocabulary.ts'
import { makeXmlGate, ownXml } from '../../xml/gate.ts'
import { partFor, valuesPartFor } from '../../xml/schema-part.ts'

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

t.test('the part that validates values has every element, in any order and number', async (t) => {
  const whole = readFileSync(new URL('purchase-order.xsd', folder), 'utf8')
  const part = valuesPartFor(whole, ['purchase-order'])
  t.notMatch(part, /xs:sequence|Occurs="(?!0|unbounded)/)
  const names = (xsd: string) =>
    readVocabulary(xsd)
      .get('purchase-order')
      ?.children.map(({ name }) => name)
  t.same(names(part.replace(/ m(?:in|ax)Occurs="\w+"/g, '')), names(whole))
})

t.test('libxml2 takes the part that validates values of every schema of a document', async (t) => {
  const gate = makeXmlGate()
  for (const { xsd, roots } of documentSchemas.values()) {
    for (const root of roots) {
      const { children } = rootType(xsd, root)
      const [first, last] = [children[0], children.at(-1)]
      if (!first || !last || first === last) continue
      // What is behind the last element is misplaced, so that its value is validated by itself.
      const found = gate.validate(ownXml(`<${root}><${last.name}/><${first.name} of="x"/></${root}>`), xsd, roots)
      const isNamed = found.some(({ detail }) => detail === `<${first.name}> has no attribute "of".`)
      t.ok(isNamed, `${root} of ${xsd.name}: ${JSON.stringify(found)}`)
    }
  }
})
