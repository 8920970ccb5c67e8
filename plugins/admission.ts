import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { Quota } from '../fairness/quota.ts'
import { addCheck } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import { whenAnswered } from '../http/when-answered.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Reserves memory for large stored orders while `work` reads or changes them.
     * @param bytes of the orders
     * @throws Problem `overloaded` when too much is reserved already
     */
    withRoomFor<T>(bytes: number, work: () => Promise<T>): Promise<T>
  }
}

/** Bytes of memory for the bodies of pending requests. The stored orders that requests read have as much again. */
const limits = { total: 96 * 1024 * 1024, perCaller: 32 * 1024 * 1024 }

/** The bytes to reserve for a body. One without a Content-Length may become as large as the limit. */
function bytesOf(headers: IncomingHttpHeaders, { BODY_LIMIT }: Config): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : BODY_LIMIT
}

/**
 * Limits the memory that the bodies of pending requests take, and so the queue of the document process. One sender can
 * use only a part of it. Requests are refused before their body is read. Reads of large orders have a quota of their own,
 * so they never keep others from placing orders.
 */
export default fp(
  async function admission(app: FastifyInstance, { config }: { config: Config }) {
    const bodies = new Quota(limits)
    const storedOrders = new Quota(limits)

    app.decorateRequest('withRoomFor', async function <T>(this: FastifyRequest, bytes: number, work: () => Promise<T>): Promise<T> {
      const { name } = this.sender()
      const exceeded = storedOrders.acquire(name, bytes)
      if (exceeded) {
        throw new Problem('overloaded', 'Too many large orders are being read or changed right now. Try again in a few seconds.')
      }
      try {
        return await work()
      } finally {
        storedOrders.release(name, bytes)
      }
    })

    addCheck(app, 'preParsing', (request, reply) => {
      const bytes = bytesOf(request.headers, config)
      if (bytes === 0) return
      const sender = request.sender().name
      const exceeded = bodies.acquire(sender, bytes)
      if (exceeded) {
        throw new Problem(
          'overloaded',
          'Too many large documents are being processed right now. Nothing was stored. Send this one again in a few seconds.'
        )
      }
      whenAnswered(request, reply, () => bodies.release(sender, bytes))
    })
  },
  { name: 'admission', fastify: '5.x', dependencies: ['documents', 'limits', 'problems'] }
)
