import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { mostTexts, orderStatuses } from '../../domain/order.ts'
import { loadXsd, readVocabulary } from '../../schemas/vocabulary.ts'

const folder = new URL('../../schemas/', import.meta.url)
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.xsd'))
  .map((file) => file.slice(0, -4))
const schema = (content: string) => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${content}</xs:schema>`
const typed = (content: string) => schema(`<xs:element name="a" type="a"/><xs:complexType name="a">${content}</xs:complexType>`)

t.test('the vocabulary of every schema is read', async (t) => {
  t.same(names, ['order-status', 'problem', 'product', 'purchase-order', 'service', 'shipment', 'stock', 'webhook'])
  for (const name of names) t.ok(loadXsd(name).vocabulary.size > 0, name)
  t.same([...loadXsd('purchase-order').vocabulary.keys()], ['purchase-order', 'order', 'orders', 'events', 'event'])
  t.same([...loadXsd('product').vocabulary.keys()], ['product', 'products', 'catalogue'])
})

t.test('no type can be put in the place of another by xsi:type', async (t) => {
  for (const name of names) t.match(readFileSync(new URL(`${name}.xsd`, folder), 'utf8'), /blockDefault="#all"/, name)
})

t.test('an element has what the schema says of it', async (t) => {
  const order = loadXsd('purchase-order').vocabulary.get('purchase-order')
  const child = (name: string) => order?.children.find((one) => one.name === name)
  t.match(child('order-number'), {
    required: false,
    repeatable: false,
    text: { base: 'xs:string', minLength: 1, maxLength: 64 }
  })
  t.same(child('order-number')?.attributes, [])
  t.match(child('note'), { required: false, repeatable: true, most: mostTexts })
  t.match(child('extension'), { attributes: [{ name: 'name', required: true }] })
  t.match(child('item'), {
    required: true,
    repeatable: true,
    most: undefined,
    children: ['line-id', 'product-id', 'gtin', 'quantity', 'unit-price', 'requested-delivery-date', 'note', 'extension'].map((name) => ({
      name
    }))
  })
  t.match(child('item')?.children[1], { required: false, alternatives: ['product-id', 'gtin'] })
  t.match(child('item')?.children[3], {
    required: true,
    text: { documentation: /a number above 0/ },
    attributes: [{ name: 'unit', required: false }]
  })
  const status = loadXsd('order-status').vocabulary.get('order-status')?.children[0]
  t.same(status?.text?.values, orderStatuses)
})

t.test('a construct that is not read is an error, not silence', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    include: schema('<xs:include schemaLocation="b.xsd"/>'),
    import: schema('<xs:import/>'),
    'a global attribute': schema('<xs:attribute name="a" type="xs:string"/>'),
    all: typed('<xs:all><xs:element name="b" type="xs:string"/></xs:all>'),
    any: typed('<xs:sequence><xs:any/></xs:sequence>'),
    'a repeated sequence': typed('<xs:sequence maxOccurs="2"><xs:element name="b" type="xs:string"/></xs:sequence>'),
    'an optional choice': typed('<xs:choice minOccurs="0"><xs:element name="b" type="xs:string"/></xs:choice>'),
    'complex content': typed('<xs:complexContent/>'),
    'any attribute': typed('<xs:anyAttribute/>'),
    'an attribute group': typed(
      '<xs:simpleContent><xs:extension base="xs:string"><xs:attributeGroup ref="b"/></xs:extension></xs:simpleContent>'
    ),
    'a type inside an element': typed('<xs:sequence><xs:element name="b"><xs:simpleType/></xs:element></xs:sequence>'),
    'a key': schema('<xs:element name="a" type="xs:string"><xs:key name="k"/></xs:element>'),
    'an element by reference': typed('<xs:sequence><xs:element ref="b"/></xs:sequence>'),
    'a group that is not there': typed('<xs:group ref="b"/>'),
    'a type that is not there': schema('<xs:element name="a" type="b"/>'),
    'a union': schema('<xs:element name="a" type="b"/><xs:simpleType name="b"><xs:union memberTypes="xs:string"/></xs:simpleType>'),
    'another facet': schema(
      '<xs:element name="a" type="b"/><xs:simpleType name="b"><xs:restriction base="xs:decimal"><xs:totalDigits value="3"/></xs:restriction></xs:simpleType>'
    )
  }
  for (const [name, xsd] of Object.entries(cases)) t.throws(() => readVocabulary(xsd), Error, name)
})
