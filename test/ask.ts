import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Buffer
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly size: number
  readonly body: string
}

/** Sends a request from one of the machine's own addresses, over a connection of its own where there is no agent, and reads the whole answer. */
export function ask(
  port: number,
  localAddress: string,
  agent: Agent | undefined,
  { method = 'GET', path, headers = {}, body }: Sent
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      localAddress,
      agent: agent ?? false,
      method,
      path,
      headers
    })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const whole = Buffer.concat(chunks)
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, size: whole.length, body: whole.toString('utf8') })
      })
    })
    sent.end(body)
  })
}
