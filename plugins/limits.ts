import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { checking, checkingPayload } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'

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

/** Fastify's options for the timeouts and sizes of requests. */
export function listenerOptions(config: Config) {
  return {
    bodyLimit: config.BODY_LIMIT,
    requestTimeout: config.REQUEST_TIMEOUT * 1000,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT * 1000,
    // Node's default checks timeouts only every 30 seconds. plugins/framing answers a missing Host.
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

/** File descriptors reserved for other uses than client connections: the database, worker threads, child processes, the operator. */
const reservedDescriptors = 96

/** The maximum of open file descriptors of this process. Undefined where the system does not have /proc. */
function descriptorLimit(): number | undefined {
  try {
    // Node raises its soft limit to the hard limit at start. This file shows the current value.
    const found = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}

/** MAX_CONNECTIONS, or less so that connections never use the last file descriptors. */
function connectionLimit(app: FastifyInstance, { MAX_CONNECTIONS }: Config): number {
  const limit = descriptorLimit()
  if (limit === undefined || limit - reservedDescriptors >= MAX_CONNECTIONS) return MAX_CONNECTIONS
  const connections = Math.max(1, limit - reservedDescriptors)
  app.log.info(
    { descriptors: limit, connections },
    'the process accepts fewer connections than MAX_CONNECTIONS, because it may not open more files'
  )
  return connections
}

/** Milliseconds. */
const samplingInterval = 1_000
const resolution = 10

/** @returns a function that gives the mean delay of the event loop in the last sampling interval, in milliseconds */
function measureLoopDelay(app: FastifyInstance): () => number {
  const histogram = monitorEventLoopDelay({ resolution })
  histogram.enable()
  let delay = 0
  const timer = setInterval(() => {
    // Without any measurement, the loop was blocked for the whole interval.
    delay = histogram.count === 0 ? Number.POSITIVE_INFINITY : Math.max(0, histogram.mean / 1e6 - resolution)
    histogram.reset()
  }, samplingInterval).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    histogram.disable()
  })
  return () => delay
}

/** Limits on connections, headers, bodies and load. The limit on URIs is in framing, the rate limit in rate-limit. */
export default fp(
  async function limits(app: FastifyInstance, { config }: { config: Config }) {
    app.server.maxConnections = connectionLimit(app, config)
    // Node silently drops the fields above its limit. Losing If-Match would change the request, so one more is read, and refused.
    app.server.maxHeadersCount = config.MAX_HEADERS + 1

    const { OVERLOAD_DELAY } = config
    if (OVERLOAD_DELAY === undefined) app.decorate('isOverloaded', () => false)
    else {
      const loopDelay = measureLoopDelay(app)
      app.decorate('isOverloaded', () => loopDelay() > OVERLOAD_DELAY)
      app.addHook(
        'onRequest',
        checking(({ routeOptions }) => {
          if (app.isOverloaded() && !routeOptions.config.unlimited)
            throw new Problem('overloaded', 'The service is too busy right now. Nothing was stored. Try again later.')
        })
      )
    }

    app.addHook(
      'onRequest',
      checking(({ raw }) => {
        if (raw.rawHeaders.length > 2 * config.MAX_HEADERS) {
          throw new Problem('headers-too-large', `The request has more than ${config.MAX_HEADERS} header fields.`)
        }
      })
    )

    // This runs before the body is read, so a client that waits for 100 (Continue) never sends it.
    app.addHook(
      'preParsing',
      checkingPayload(({ headers }) => {
        if (Number(headers['content-length']) > config.BODY_LIMIT) {
          throw new Problem('body-too-large', `The body is larger than ${config.BODY_LIMIT} bytes.`)
        }
      })
    )
  },
  { name: 'limits', fastify: '5.x', dependencies: ['problems'] }
)
