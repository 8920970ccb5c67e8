import { readFileSync } from 'node:fs'
import t from 'tap'
import { makeXmlGate } from '../plugins/xml.ts'
import { sampleFile } from '../sample.ts'
import { productXsd } from '../schemas/product.ts'

t.test('the sample catalogue is valid against its schema', async (t) => {
  const gate = makeXmlGate()
  t.same(gate.validate(gate.parse(readFileSync(sampleFile)), productXsd, ['catalogue']), [])
})
