/** The XSDs include no others, so a type that several of them use is written in each. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { childrenOf } from '../../schemas/element.ts'
import { readXml } from '../../schemas/xml.ts'

const folder = new URL('../../schemas/', import.meta.url)
const xsds = readdirSync(folder).filter((name) => name.endsWith('.xsd'))

/** The types that have one name and differ, each with the XSDs that have the same one. */
const differing = {
  // Orders and webhooks have their own statuses.
  'xs:simpleType status': [['order-status', 'purchase-order'], ['webhook']],
  // A product must have a name. In an address it may be empty.
  'xs:simpleType name': [['product'], ['purchase-order', 'shipment']],
  // In an address it may be empty, as the name. A shipment leaves out its carrier or tracking number if it has none.
  'xs:simpleType short-text': [['purchase-order'], ['shipment']],
  // The sums of an order can be larger than a price, and have more fraction digits.
  'xs:complexType amount': [['product'], ['purchase-order']],
  // The `line` of a shipped item says which it is. Its product's id is only shown.
  'xs:complexType linked-product-id': [['purchase-order'], ['shipment']]
}

t.test(
  'a type of one name is the same in every XSD, with its facets and its documentation, but for those that are named here',
  async (t) => {
    const types = new Map<string, Map<string, string[]>>()
    for (const file of xsds) {
      const schema = readXml(readFileSync(new URL(file, folder), 'utf8'))
      for (const kind of ['xs:simpleType', 'xs:complexType', 'xs:group']) {
        for (const type of childrenOf(schema, kind)) {
          const name = `${kind} ${type.attributes?.['name']}`
          const contents = types.get(name) ?? new Map<string, string[]>()
          const content = JSON.stringify(type)
          types.set(name, contents.set(content, [...(contents.get(content) ?? []), file.replace('.xsd', '')]))
        }
      }
    }
    const sets = [...types].map(([name, contents]) => [name, [...contents.values()].sort()] as const)
    t.ok(sets.filter(([, [files = []]]) => files.length > 1).length > 10, 'types are shared')
    t.strictSame(Object.fromEntries(sets.filter(([, one]) => one.length > 1)), differing)
  }
)
