import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { LoopDelay } from '../background/loop-delay.ts'
import type { Config } from '../config.ts'
import { bodyLength } from '../http/body.ts'
import { connectionLimit, descriptorLimit } from '../http/descriptors.ts'
import { addCheck } from '../http/hooks.ts'
import { nothingStored } from '../http/methods.ts'
import { bodyTooLarge, Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether requests are refused now because the event loop is too slow. */
    isOverloaded(): boolean
  }
  interface FastifyContextConfig {
    /** Exempt from the rate limit and from load shedding, such as health checks. */
    unlimited?: true
  }
}

/** Limits on connections, headers, bodies and load. The limit on URIs is in framing, the rate limit in rate-limit. */
export default fp(
  async function limits(app: FastifyInstance, { config }: { config: Config }) {
    const descriptors = descriptorLimit()
    const connections = connectionLimit(config.MAX_CONNECTIONS, descriptors)
    app.server.maxConnections = connections
    if (connections < config.MAX_CONNECTIONS) {
      app.log.info(
        { descriptors, connections },
        `the process accepts fewer connections than MAX_CONNECTIONS, because it may only open ${descriptors} files: ` +
          'raise that before the start, with ulimit -n, or with ulimits in the compose file'
      )
    }
    // Node silently drops the fields above its limit. A lost If-Match would change the request. So Node reads one more than is allowed,
    // and a request that has it is refused.
    app.server.maxHeadersCount = config.MAX_HEADERS + 1

    const { OVERLOAD_DELAY } = config
    if (OVERLOAD_DELAY === undefined) app.decorate('isOverloaded', () => false)
    else {
      const delay = new LoopDelay()
      // While the service loads, the loop is late although nobody asks for anything.
      app.addHook('onReady', async () => delay.start())
      app.addHook('onClose', async () => delay.stop())
      app.decorate('isOverloaded', () => delay.mean > OVERLOAD_DELAY)
      addCheck(app, 'onRequest', ({ method, routeOptions }) => {
        if (app.isOverloaded() && !routeOptions.config.unlimited)
          throw new Problem('overloaded', `The service is too busy right now. ${nothingStored(method)}Try again later.`)
      })
    }

    addCheck(app, 'onRequest', ({ raw }) => {
      if (raw.rawHeaders.length > 2 * config.MAX_HEADERS) {
        throw new Problem('headers-too-large', `The request has more than ${config.MAX_HEADERS} header fields.`)
      }
    })

    // This runs before the body is read, so a client that waits for 100 (Continue) never sends it.
    addCheck(app, 'preParsing', (request) => {
      if ((bodyLength(request) ?? 0) > config.BODY_LIMIT) throw bodyTooLarge(request.method, config.BODY_LIMIT)
    })
  },
  { name: 'limits', fastify: '5.x', dependencies: ['problems'] }
)
