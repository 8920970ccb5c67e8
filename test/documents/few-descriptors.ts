/** A program of `few-descriptors.process.ts`: asks for two documents, the first of them while the process has no descriptor left. */

import { DocumentQueue } from '../../documents/document-queue.ts'
import type { Payer } from '../../documents/payer.ts'
import { withoutDescriptors } from '../few-descriptors.ts'

const { signal } = new AbortController()
const payer: Payer = { sender: () => ({ name: 'a', group: 'guests', signal }), chargeWork: () => {}, workRefusal: () => undefined }
const queue = new DocumentQueue({ budget: 30_000, niceness: 0, window: { jobs: 1, bytes: 1 << 20 }, warn: () => {} })
const read = () => queue.run(payer, { kind: 'fields', bytes: Buffer.from('a=b') }, 3)

const first = await withoutDescriptors(read)
const second = await read()
console.log(JSON.stringify([first, typeof second === 'object' && 'result' in second ? second.result : second]))
process.exit(0)
