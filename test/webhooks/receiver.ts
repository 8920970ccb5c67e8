import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** A request that a receiver got. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** Resolves when so many requests have come. */
  count(wanted: number): Promise<readonly Received[]>
}

type Answer = (response: ServerResponse, request: Received, count: number) => unknown

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
}

/** A customer's receiver on this machine. @param answer what it does with each request; by default it answers 204 */
export async function startReceiver(t: Test, answer: Answer = (response) => response.writeHead(204).end()): Promise<Receiver> {
  const received: Received[] = []
  const waiting: { readonly wanted: number; readonly resolve: () => void }[] = []
  const server = createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, async (request, response) => {
    const one = await read(request).catch(() => undefined)
    if (!one) return
    received.push(one)
    for (const { wanted, resolve } of waiting) if (received.length >= wanted) resolve()
    await answer(response, one, received.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async count(wanted) {
      if (received.length < wanted) await new Promise<void>((resolve) => waiting.push({ wanted, resolve }))
      return received
    }
  }
}
