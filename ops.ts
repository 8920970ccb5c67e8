import Fastify, { type FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import { answerClientError } from './http/client-errors.ts'
import { listenerOptions } from './http/listener-options.ts'
import { targetReader } from './http/targets.ts'
import { makeRequestIds } from './logging/request-ids.ts'
import { RequestLog } from './logging/requests.ts'
import draining from './plugins/draining.ts'
import framing from './plugins/framing.ts'
import limits from './plugins/limits.ts'
import logging from './plugins/logging.ts'
import methods from './plugins/methods.ts'
import problems from './plugins/problems.ts'
import scheduling from './plugins/scheduling.ts'
import sending from './plugins/sending.ts'
import health from './routes/health.ts'
import metrics from './routes/metrics.ts'

export interface OpsOptions {
  readonly config: Config
  /** The service that is monitored. */
  readonly app: FastifyInstance
  readonly isStopping: () => boolean
}

/** The most connections. It is far below the file descriptors that plugins/limits reserves. */
const maxConnections = 32

/**
 * Builds the server for health and metrics on OPS_PORT, which need not be public. It has the limits of the service except
 * for the rate limit, and it answers even if the service is overloaded.
 */
export async function buildOps({ config: shop, app, isStopping }: OpsOptions): Promise<FastifyInstance> {
  const config: Config = { ...shop, MAX_CONNECTIONS: Math.min(shop.MAX_CONNECTIONS, maxConnections), OVERLOAD_DELAY: undefined }
  const ops = Fastify({
    loggerInstance: app.log,
    logController: new RequestLog(),
    genReqId: makeRequestIds(config.TRUST_PROXY),
    ...listenerOptions(config),
    rewriteUrl: targetReader(config),
    clientErrorHandler: answerClientError(config)
  })
  await ops.register(logging)
  await ops.register(draining, { config })
  await ops.register(problems, { config })
  await ops.register(scheduling)
  await ops.register(limits, { config })
  await ops.register(sending, { config })
  await ops.register(framing, { config })
  await ops.register(methods)
  await ops.register(health, { store: app.store, isStopping })
  await ops.register(metrics, { metrics: app.metrics })
  ops.completeMethods()
  return ops
}
