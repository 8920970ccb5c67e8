import underPressure from '@fastify/under-pressure'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { Problem } from './problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered also to who is over the limit, and while the service is too busy: health. */
    unlimited?: true
  }
}

/** Bounds on what one request, and all of them together, can make the service do. The URI's is in framing, the rate's in rate-limit. */
export default fp(
  async function limits(app: FastifyInstance, { config }: { config: Config }) {
    app.server.maxConnections = config.MAX_CONNECTIONS
    // Node leaves out the fields over its limit, and a request without its If-Match is another request: see one more, and refuse.
    app.server.maxHeadersCount = config.MAX_HEADERS + 1

    if (config.OVERLOAD_DELAY !== undefined) {
      await app.register(underPressure, {
        maxEventLoopDelay: config.OVERLOAD_DELAY,
        pressureHandler: ({ routeOptions }) => {
          if (!routeOptions.config.unlimited) throw new Problem('overloaded', 'The service has more to do than it can. Nothing was stored.')
        }
      })
    }

    app.addHook('onRequest', async ({ raw }) => {
      if (raw.rawHeaders.length > 2 * config.MAX_HEADERS) {
        throw new Problem('headers-too-large', `The request has more than ${config.MAX_HEADERS} header fields.`)
      }
    })

    // Said before the body is read, and so before a client that waits for 100 (Continue) sends it.
    app.addHook('preParsing', async ({ headers }, _reply, payload) => {
      if (Number(headers['content-length']) > config.BODY_LIMIT) {
        throw new Problem('body-too-large', `The body is larger than ${config.BODY_LIMIT} bytes.`)
      }
      return payload
    })
  },
  { name: 'limits', fastify: '5.x', dependencies: ['problems'] }
)
