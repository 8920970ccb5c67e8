import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { Quota } from '../fairness/quota.ts'
import { Problem } from '../http/problem.ts'
import { whenAnswered } from '../http/when-answered.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Does something with stored orders that are large and wait for the document process meanwhile, where there is room for them.
     * @param bytes of the orders
     * @throws Problem `overloaded` when there is none
     */
    withRoomFor<T>(bytes: number, work: () => Promise<T>): Promise<T>
  }
}

/** Bytes that the bodies of requests under way may take, of all senders together and of one; and so may the orders that they ask for. */
const most = { all: 96 * 1024 * 1024, caller: 32 * 1024 * 1024 }

/** A body whose length is not known beforehand may become as long as any. */
function bytesOf(headers: IncomingHttpHeaders, { BODY_LIMIT }: Config): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : BODY_LIMIT
}

/**
 * Bounds what the bodies of requests that are not answered yet take of memory, and with it what waits for the document
 * process: one sender's documents never fill the room of the others. It is said before a body is read. What waits to be
 * written has room of its own: who asks for large orders, however often, never keeps others from placing theirs.
 */
export default fp(
  async function admission(app: FastifyInstance, { config }: { config: Config }) {
    const inUse = new Quota(most)
    const asked = new Quota(most)

    app.decorateRequest('withRoomFor', async function <T>(this: FastifyRequest, bytes: number, work: () => Promise<T>): Promise<T> {
      const { name } = this.sender()
      if (asked.take(name, bytes)) {
        throw new Problem('overloaded', 'Too many large orders are being asked for now. Try again in a few seconds.')
      }
      try {
        return await work()
      } finally {
        asked.giveBack(name, bytes)
      }
    })

    app.addHook('preParsing', async (request, reply, payload) => {
      const bytes = bytesOf(request.headers, config)
      if (bytes === 0) return payload
      const sender = request.sender().name
      if (inUse.take(sender, bytes)) {
        throw new Problem(
          'overloaded',
          'Too many large documents are being read now. Nothing was stored; send this one again in a few seconds.'
        )
      }
      whenAnswered(request, reply, () => inUse.giveBack(sender, bytes))
      return payload
    })
  },
  { name: 'admission', fastify: '5.x', dependencies: ['documents', 'limits', 'problems'] }
)
