import { readFileSync } from 'node:fs'
import t from 'tap'
import { sampleFile } from '../sample.ts'
import { productXsd } from '../schemas/product.ts'
import { makeXmlGate } from '../xml/gate.ts'

t.test('the sample catalogue is valid against its schema', async (t) => {
  const gate = makeXmlGate()
  t.same(gate.validate(gate.parse(readFileSync(sampleFile)), productXsd, ['catalogue']), [])
})
