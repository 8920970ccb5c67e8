/** A program of `few-descriptors.process.ts`: asks for two documents, the first of them while the process has no descriptor left. */

import { closeSync, openSync } from 'node:fs'
import { DocumentQueue } from '../../documents/document-queue.ts'
import type { Payer } from '../../documents/payer.ts'

const { signal } = new AbortController()
const payer: Payer = { sender: () => ({ name: 'a', group: 'guests', signal }), chargeWork: () => {}, workRefusal: () => undefined }
const queue = new DocumentQueue({ budget: 30_000, niceness: 0, window: { jobs: 1, bytes: 1 << 20 }, warn: () => {} })
const read = () => queue.run(payer, { kind: 'fields', bytes: Buffer.from('a=b') }, 3)

const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  // There are no more.
}
const first = await read()
for (const descriptor of taken) closeSync(descriptor)
const second = await read()
console.log(JSON.stringify([first, typeof second === 'object' && 'result' in second ? second.result : second]))
process.exit(0)
