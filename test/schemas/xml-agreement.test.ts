import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import libxmljs, { type Element as Node } from 'libxmljs2'
import t from 'tap'
import type { Element } from '../../schemas/element.ts'
import { readXml, writeLines, writeXml } from '../../schemas/xml.ts'
import { ownXml } from '../../xml/gate.ts'
import { guard } from '../../xml/guard.ts'
import { document, xmlText } from './arbitrary-xml.ts'

/** Walks the tree that libxml2 parsed, which only a test does. */
function parsedByLibxml2(xml: string | Buffer): Element {
  const options = { nonet: true, encoding: 'UTF-8' }
  const walk = (node: Node): Element => {
    const children = node.childNodes().filter((child): child is Node => child.type() === 'element')
    const attributes = node.attrs().map((attribute): [string, string] => [attribute.name(), attribute.value()])
    return {
      name: node.name(),
      ...(attributes.length > 0 ? { attributes: Object.fromEntries(attributes) } : {}),
      ...(children.length > 0 ? { children: children.map(walk) } : { text: node.text() })
    }
  }
  const root = libxmljs.parseXml(Buffer.from(xml) as unknown as string, options).root()
  if (!root) throw new Error('no root')
  return walk(root)
}

function agree(xml: string | Buffer): void {
  guard(Buffer.from(xml))
  assert.deepEqual(readXml(xml.toString()), parsedByLibxml2(xml))
}

t.test('fast-xml-parser reads what libxml2 read, and both what the recommendation says', async (t) => {
  const property = fc.property(document, ({ xml, element }) => {
    guard(Buffer.from(xml))
    assert.deepEqual(parsedByLibxml2(xml), element)
    assert.deepEqual(readXml(xml), element)
  })
  t.doesNotThrow(() =>
    fc.assert(property, { numRuns: 500, examples: [[{ xml: '<a>\r<!---->\n</a>', element: { name: 'a', text: '\n\n' } }]] })
  )
})

t.test('text with any characters is read back as it was written', async (t) => {
  const attributes = fc.dictionary(fc.constantFrom('a', 'b'), xmlText, { noNullPrototype: true })
  const property = fc.property(fc.array(fc.tuple(xmlText, attributes), { minLength: 1, maxLength: 4 }), (texts) => {
    const children = texts.map(([text, own]): Element => ({ name: 'b', ...(Object.keys(own).length > 0 ? { attributes: own } : {}), text }))
    const root: Element = { name: 'a', children }
    assert.deepEqual(readXml(writeXml(root)), root)
    assert.deepEqual(parsedByLibxml2(writeXml(root)), root)
    assert.deepEqual(parsedByLibxml2(writeLines(root)), root)
    const lines = ownXml(writeLines(root)).tags.map(({ line }) => line)
    assert.equal(new Set(lines).size, 1 + texts.length, 'each element is on a line of its own')
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }))
})

t.test('the parsers agree on every document of the corpus, and on the sample catalogue', async (t) => {
  const folder = new URL('../corpus/', import.meta.url)
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.xml'))) {
    t.doesNotThrow(() => agree(readFileSync(new URL(name, folder))), name)
  }
  t.doesNotThrow(() => agree(readFileSync(new URL('../../samples/catalogue.xml', import.meta.url))), 'the sample')
})

t.test('a quote in a processing instruction hides no element from the second parser', async (t) => {
  const root = readXml(`<a><?x don't?><b>1</b><?y don't?><c>2</c></a>`)
  t.same(
    root.children?.map(({ name }) => name),
    ['b', 'c']
  )
})
