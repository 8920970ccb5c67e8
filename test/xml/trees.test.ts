import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import libxmljs from 'libxmljs2'
import t from 'tap'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { makeXmlGate, ownXml } from '../../xml/gate.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const roots = ['purchase-order']
const item = `<item><product-id>ABC-1</product-id><quantity>1</quantity>${'<note>n</note>\n'.repeat(90)}</item>`
const order = `<purchase-order>${item.repeat(1_000)}</purchase-order>`
const invalid = `<purchase-order>${item.repeat(999)}${item.replace('>1<', '>-1<')}</purchase-order>`
/** Bytes of libxml2 for the schemas and no tree of the order: they take a tenth of it, and the order's tree 33 MB. */
const withoutTrees = 1_000_000

/** A gate, and the bytes of libxml2 at each time when it is about to parse a long document. */
function watched() {
  const kept: number[] = []
  const gate = makeXmlGate(() => {
    collectGarbage()
    kept.push(libxmljs.memoryUsage())
  })
  return { gate, kept }
}

t.test('a long document never has two libxml2 trees in memory', async (t) => {
  const { gate, kept } = watched()
  // Other tests of this process have schemas of their own.
  collectGarbage()
  const before = libxmljs.memoryUsage()
  const parsed = gate.parse(Buffer.from(order))
  t.ok(libxmljs.memoryUsage() > 10 * withoutTrees, `the tree of the whole takes ${libxmljs.memoryUsage()} bytes`)
  t.same(gate.validate(parsed, orderXsd, roots), [])
  t.same(gate.validate(ownXml(order), orderXsd, roots), [])
  t.equal(gate.isValid(order, orderXsd, 'purchase-order'), true)
  t.match(gate.validate(ownXml(invalid), orderXsd, roots), [{ line: Number }])
  const most = Math.max(...kept) - before
  t.ok(most < withoutTrees, `${most} bytes at most are left when another one is parsed`)
})
