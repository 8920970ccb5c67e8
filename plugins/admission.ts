import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { Problem } from './problem.ts'

/** Bytes that the bodies of requests under way may take, of all senders together and of one. */
const most = { all: 96 * 1024 * 1024, sender: 32 * 1024 * 1024 }

/** A body whose length is not known beforehand may become as long as any. */
function bytesOf(headers: IncomingHttpHeaders, { BODY_LIMIT }: Config): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : BODY_LIMIT
}

/** Bytes in use, by sender. */
class Ledger {
  readonly #senders = new Map<string, number>()
  #all = 0

  /** Whether there is room. */
  take(sender: string, bytes: number): boolean {
    const own = (this.#senders.get(sender) ?? 0) + bytes
    if (own > most.sender || this.#all + bytes > most.all) return false
    this.#senders.set(sender, own)
    this.#all += bytes
    return true
  }

  giveBack(sender: string, bytes: number): void {
    const own = (this.#senders.get(sender) ?? 0) - bytes
    if (own > 0) this.#senders.set(sender, own)
    else this.#senders.delete(sender)
    this.#all -= bytes
  }
}

/**
 * Bounds what the bodies of requests that are not answered yet take of memory, and with it what waits for the document
 * process: one sender's documents never fill the room of the others. It is said before a body is read.
 */
export default fp(
  async function admission(app: FastifyInstance, { config }: { config: Config }) {
    const inUse = new Ledger()

    app.addHook('preParsing', async (request, reply, payload) => {
      const bytes = bytesOf(request.headers, config)
      if (bytes === 0) return payload
      const sender = request.sender().name
      if (!inUse.take(sender, bytes)) {
        throw new Problem(
          'overloaded',
          'Too many large documents are being read now. Nothing was stored; send this one again in a few seconds.'
        )
      }
      reply.raw.once('close', () => inUse.giveBack(sender, bytes))
      return payload
    })
  },
  { name: 'admission', fastify: '5.x', dependencies: ['documents', 'limits', 'problems'] }
)
