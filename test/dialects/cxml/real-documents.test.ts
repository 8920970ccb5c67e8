import t from 'tap'
import { blankDoctype, startsAsCxml } from '../../../dialects/cxml/doctype.ts'
import { isCxml, readCxml } from '../../../dialects/cxml/read.ts'
import { readElements } from '../../../dialects/xml-element.ts'
import type { FaultCode } from '../../../domain/fault-codes.ts'
import { guard } from '../../../xml/guard.ts'
import { type Sample, samples } from '../samples.ts'
import { codes, plain } from './documents.ts'

/** The outcome that the index expects, as far as the document alone decides it. */
const codesOf: Readonly<Record<string, FaultCode>> = {
  'refuse:blanket-item': 'blanket-order',
  'refuse:item-hierarchy': 'item-set',
  'refuse:schedule-release': 'schedule-release'
}

/** The kind of request and the fault code that the index expects. */
function expectedOf({ document, expect, special }: Sample): { readonly kind: string; readonly code: string | undefined } {
  if (document === 'ProfileRequest') return { kind: 'profile', code: undefined }
  if (document !== 'OrderRequest') return { kind: 'unsupported', code: 'unsupported-document' }
  const kind = /type=(update|change)/.test(special) ? 'replace' : 'place'
  return { kind, code: codesOf[expect] }
}

t.test('documents that buyers really sent become what their index names', async (t) => {
  const all = samples()
  if (!all) return void t.pass('', { skip: 'the documents are not here' })
  for (const sample of all.filter(({ dialect }) => dialect === 'cxml')) {
    const { name, bytes } = sample
    t.equal(startsAsCxml(bytes), true, name)
    const { source, tags } = guard(blankDoctype(bytes).bytes)
    const root = readElements({ source, tags })
    t.equal(isCxml(root), true, name)
    const read = readCxml(root, source)
    const { kind, code } = expectedOf(sample)
    t.equal(read.request.kind, kind, name)
    if (code) t.match(codes(read).join(), code, name)
    else t.same(codes(read), [], name)
    if (kind !== 'unsupported') t.equal(read.isTest === true, sample.special.includes('deploymentMode test'), name)
    const returned = JSON.stringify([plain(read.request), read.answer, plain(read.faults)])
    const secrets = read.secrets.map(({ from, to }) => source.slice(from, to).trim()).filter(({ length }) => length >= 8)
    for (const secret of secrets) t.notMatch(returned, secret, name)
  }
})
