import assert from 'node:assert/strict'
import fc from 'fast-check'
import libxmljs from 'libxmljs2'
import t from 'tap'
import type { Element } from '../../schemas/element.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { writeXml } from '../../schemas/xml.ts'
import { makeXmlGate, ownXml } from '../../xml/gate.ts'
import { guard } from '../../xml/guard.ts'
import { element, item } from '../schemas/arbitrary-order.ts'
import { document, mutate, mutation } from '../schemas/arbitrary-xml.ts'

const options = { nonet: true, encoding: 'UTF-8' }

function readsWithLibxml2(bytes: Buffer): boolean {
  try {
    return libxmljs.parseXml(bytes as unknown as string, options).errors.length === 0
  } catch {
    return false
  }
}

t.test('the guard refuses nothing that libxml2 reads, whatever is done to a document', async (t) => {
  const property = fc.property(document, mutation, ({ xml }, change) => {
    const mutated = Buffer.from(mutate(xml, change))
    fc.pre(readsWithLibxml2(mutated))
    assert.doesNotThrow(() => guard(mutated), mutated.toString())
  })
  // libxml2 reads one of four, and only those count.
  t.doesNotThrow(() => fc.assert(property, { numRuns: 400 }))
})

function validate(root: Element): readonly string[] {
  const source = writeXml(root)
  const guarded = ownXml(source)
  const faults = makeXmlGate().validate(guarded, orderXsd, ['purchase-order'])
  const document = libxmljs.parseXml(source)
  const isValid = document.validate(libxmljs.parseXml(orderXsd.source.toString()))
  assert.equal(faults.length === 0, isValid)
  const lines = new Set(faults.map(({ line }) => line))
  // What is missing is told at the element that needs it. libxml2 tells it at the element that stands in its place.
  const incomplete = new Set(faults.filter(({ detail }) => / is not complete: /.test(detail)).map(({ line }) => line))
  const around = new Map(guarded.tags.map(({ line, parent }) => [line, parent?.line]))
  const isMissing = ({ line, message }: { line: number | null; message: string }) =>
    /This element is not expected/.test(message) && incomplete.has(around.get(line ?? 0))
  const missed = document.validationErrors.filter((error) => !lines.has(error.line ?? undefined) && !isMissing(error))
  assert.ok(missed.length === 0 || faults.length >= 100, `what libxml2 finds is told where it is: ${missed}`)
  const paths = faults.map(({ path = '' }) => path)
  assert.ok(paths.every((path) => path.startsWith('/purchase-order')))
  assert.ok(faults.every(({ line = 0 }) => source.split('\n').length >= line && line > 0))
  assert.ok(
    faults.every(({ detail }) => !/does not match its schema/.test(detail)),
    'a reason is found for every refusal'
  )
  return faults.map(({ detail }) => detail)
}

t.test('a document is refused with reasons exactly when libxml2 finds it invalid', async (t) => {
  const property = fc.property(fc.array(element, { maxLength: 6 }), fc.boolean(), (children, withItem) => {
    validate({ name: 'purchase-order', children: withItem ? [...children, item] : children })
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 400 }))
})

t.test('a long document is validated like a short one, wherever its errors are', async (t) => {
  const property = fc.property(fc.array(fc.tuple(fc.nat({ max: 10_990 }), element), { minLength: 1, maxLength: 3 }), (strewn) => {
    const children = Array.from({ length: 11_000 }, () => item)
    for (const [at, odd] of strewn) children[at + 1] = odd
    const odd = children.filter((child) => child !== item)
    const short = validate({ name: 'purchase-order', children: odd.flatMap((child) => [item, child, item]) })
    assert.deepEqual(validate({ name: 'purchase-order', children }), short)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 10 }))
})
