import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import libxmljs from 'libxmljs2'
import t from 'tap'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { makeXmlGate, ownXml } from '../../xml/gate.ts'
import { watchParsed } from './watch-parsed.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const roots = ['purchase-order']
const item = `<item><product-id>ABC-1</product-id><quantity>1</quantity>${'<note>n</note>\n'.repeat(90)}</item>`
const order = `<purchase-order>${item.repeat(1_000)}</purchase-order>`
const invalid = `<purchase-order>${item.repeat(999)}${item.replace('>1<', '>-1<')}</purchase-order>`
/** Bytes of libxml2. The tree of the order takes 33 MB, twice as much as may be left, and the schemas take a hundredth of that. */
const mostLeft = 16 * 1024 * 1024 + 1_000_000

t.test('no document is parsed while the libxml2 tree of a long document is in memory', async (t) => {
  const all: { readonly length: number; readonly left: number }[] = []
  watchParsed(t, ({ length }) => all.push({ length, left: libxmljs.memoryUsage() }))
  const gate = makeXmlGate(collectGarbage)
  // Other tests of this process have schemas of their own.
  collectGarbage()
  const before = libxmljs.memoryUsage()
  const parsed = gate.parse(Buffer.from(order))
  const tree = libxmljs.memoryUsage() - before
  t.ok(tree > 1.5 * mostLeft, `the tree of the whole takes ${tree} bytes`)
  t.same(gate.validate(parsed, orderXsd, roots), [])
  t.same(gate.validate(ownXml(order), orderXsd, roots), [])
  t.equal(gate.isValid(order, orderXsd, 'purchase-order'), true)
  t.match(gate.validate(ownXml(invalid), orderXsd, roots), [{ line: Number }])
  const wholes = all.filter(({ length }) => length >= order.length)
  t.ok(wholes.length >= 4, `the whole order is parsed ${wholes.length} times`)
  const most = Math.max(...all.map(({ left }) => left)) - before
  t.ok(most < mostLeft, `${most} bytes at most are left when another one is parsed`)
})
