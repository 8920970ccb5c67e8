import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered also to who is over the limit, and while the service is too busy: health. */
    unlimited?: true
  }
}

/** How long a client may take over a request, and how large its head may be: for Fastify. */
export function listenerOptions(config: Config) {
  return {
    bodyLimit: config.BODY_LIMIT,
    requestTimeout: config.REQUEST_TIMEOUT * 1000,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT * 1000,
    // Node looks for late requests every 30 seconds, which would be the real time-out; plugins/framing answers a missing Host.
    http: {
      requestTimeout: config.REQUEST_TIMEOUT * 1000,
      headersTimeout: Math.min(config.HEADERS_TIMEOUT, config.REQUEST_TIMEOUT) * 1000,
      maxHeaderSize: config.MAX_HEADER_SIZE,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false
    },
    return503OnClosing: false,
    routerOptions: { maxParamLength: config.MAX_URL_LENGTH }
  }
}

/** Descriptors that are kept for what is no client's connection: the database, its threads, other processes, the operator. */
const ownDescriptors = 96

/** Descriptors that this process may have open; undefined where the system does not tell. */
function descriptorLimit(): number | undefined {
  try {
    // Node has raised the soft limit to the hard one, and this shows what is in force.
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}

/** Without a descriptor left nothing can be opened, not even what is asked about the memory in use: connections never take the last. */
function mostConnections(app: FastifyInstance, { MAX_CONNECTIONS }: Config): number {
  const limit = descriptorLimit()
  if (limit === undefined || limit - ownDescriptors >= MAX_CONNECTIONS) return MAX_CONNECTIONS
  const most = Math.max(1, limit - ownDescriptors)
  app.log.info(
    { descriptors: limit, connections: most },
    'fewer connections than MAX_CONNECTIONS are taken: the process may not open more files'
  )
  return most
}

/** How often the lateness is looked at, and how finely it is measured, in milliseconds. */
const look = 1_000
const resolution = 10

/** @returns how late the event loop was in the last second, on average; in milliseconds */
function watchLateness(app: FastifyInstance): () => number {
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  let late = 0
  const timer = setInterval(() => {
    // Nothing was measured in the whole time: the loop did not turn.
    late = histogram.count === 0 ? Number.POSITIVE_INFINITY : Math.max(0, histogram.mean / 1e6 - resolution)
    histogram.reset()
  }, look).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    histogram.disable()
  })
  return () => late
}

/** Bounds on what one request, and all of them together, can make the service do. The URI's is in framing, the rate's in rate-limit. */
export default fp(
  async function limits(app: FastifyInstance, { config }: { config: Config }) {
    app.server.maxConnections = mostConnections(app, config)
    // Node leaves out the fields over its limit, and a request without its If-Match is another request: see one more, and refuse.
    app.server.maxHeadersCount = config.MAX_HEADERS + 1

    if (config.OVERLOAD_DELAY !== undefined) {
      const lateness = watchLateness(app)
      app.addHook('onRequest', async ({ routeOptions }) => {
        if (lateness() > (config.OVERLOAD_DELAY ?? 0) && !routeOptions.config.unlimited)
          throw new Problem('overloaded', 'The service has more to do than it can. Nothing was stored.')
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
