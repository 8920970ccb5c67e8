/** A program of `few-descriptors.process.ts`: sends a delivery, one while the process has no descriptor left, and another. */

import { type AddressInfo, createServer } from 'node:net'
import { SendingThread } from '../../webhooks/sending.ts'
import { withoutDescriptors } from '../few-descriptors.ts'

// Nothing listens there any more.
const server = createServer()
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
await new Promise((resolve) => server.close(resolve))
const thread = new SendingThread({ allow: ['127.0.0.1'], mostIdle: 8 })
const signing = { id: 'event-1', timestamp: 0, secrets: [] }
const send = () =>
  thread.post({ url, customer: 'ERP', headers: {}, body: Buffer.from('{}'), signing }, new AbortController().signal).then(
    ({ failure }) => failure,
    (error) => error.name
  )

console.log(JSON.stringify([await send(), await withoutDescriptors(send), await send()]))
process.exit(0)
