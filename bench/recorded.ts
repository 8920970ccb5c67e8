/** A bare Fastify that replays a response of another server. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorded } from './bare.ts'
import { type ServedProcess, serveProcess } from './pinned.ts'

type Address = Pick<ServedProcess, 'host' | 'port'>

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Sends a complete request, which has no body or one with a Content-Length. */
export async function exchange({ host = '127.0.0.1', port }: Address, request: string): Promise<Response> {
  const [head = '', body = ''] = request.split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = Object.fromEntries(
    fields.map((field) => field.split(': ') as [string, string]).filter(([name]) => !/^(host|content-length)$/i.test(name))
  )
  const response = await fetch(`http://${host}:${port}${path}`, {
    method,
    headers: { 'user-agent': '', ...headers },
    ...(body === '' ? {} : { body })
  })
  return { status: response.status, headers: Object.fromEntries(response.headers), body: Buffer.from(await response.arrayBuffer()) }
}

/** Fields that Node sets itself. */
const nodeFields = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

interface Replayed {
  readonly request: string
  readonly status: number
  /** The route of the bare server. */
  readonly route: string
}

async function record(address: Address, { request, status, route }: Replayed): Promise<Recorded> {
  const response = await exchange(address, request)
  if (response.status !== status) throw new Error(`${route} answers ${response.status}, not ${status}: ${response.body}`)
  const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => !nodeFields.includes(name)))
  return { method: request.startsWith('POST') ? 'POST' : 'GET', route, status, headers, body: response.body.toString('base64') }
}

const loaderPath = new URL('../test/typescript/register.js', import.meta.url).href

/** Starts a bare server that sends what another server answers. @param folder for the recorded response */
export async function replay(folder: string, address: Address, replayed: Replayed): Promise<ServedProcess> {
  const file = join(folder, 'recorded.json')
  writeFileSync(file, JSON.stringify([await record(address, replayed)]))
  return serveProcess([`--import=${loaderPath}`, fileURLToPath(new URL('./bare.ts', import.meta.url)), file], {})
}
