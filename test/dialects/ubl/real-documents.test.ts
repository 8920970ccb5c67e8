import t from 'tap'
import { isUbl, readUbl } from '../../../dialects/ubl/read.ts'
import { readElements } from '../../../dialects/xml-element.ts'
import { guard } from '../../../xml/guard.ts'
import { type Sample, ublSamples } from '../samples.ts'

function read({ bytes }: Sample) {
  const guarded = guard(bytes)
  const root = readElements(guarded)
  return isUbl(root) ? readUbl(root, guarded.source) : undefined
}

const kinds: Readonly<Record<string, readonly string[]>> = {
  place: ['place'],
  change: ['replace', 'change-lines'],
  cancel: ['cancel']
}

/** The faults that the document itself shows. All other reasons to refuse it are of the catalogue, or of the builder of orders. */
const codes: Readonly<Record<string, string>> = {
  'refuse:allowance': 'allowance-not-agreed',
  'refuse:two-currencies': 'two-currencies',
  'refuse:xsd': 'missing-value'
}

const samples = ublSamples()

if (!samples) t.pass('', { skip: 'the documents of real buyers are not here' })

for (const sample of samples ?? []) {
  const { name, expect } = sample
  t.test(`${name}: ${expect}`, async (t) => {
    if (expect === 'refuse:xml') {
      t.throws(() => read(sample), { code: 'malformed-document' })
      return
    }
    const document = read(sample)
    if (expect === 'model') {
      t.equal(document, undefined, 'an answer is not a document that the shop takes')
      return
    }
    t.ok(document)
    const found = new Set(document?.faults.map(({ code }) => code))
    t.ok((kinds[expect] ?? ['place']).includes(document?.request.kind ?? ''), `the request is of kind ${document?.request.kind}`)
    const code = codes[expect]
    if (code) t.same([...found], [code])
    else if (expect.startsWith('refuse:')) found.delete('missing-value')
    if (!code) t.same([...found], [], JSON.stringify(document?.faults))
  })
}
