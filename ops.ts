import Fastify, { type FastifyInstance } from 'fastify'
import type { Config } from './config.ts'
import draining from './plugins/draining.ts'
import logging, { makeRequestIds, RequestLog } from './plugins/logging.ts'
import methods from './plugins/methods.ts'
import problems from './plugins/problems.ts'
import health from './routes/health.ts'
import metrics from './routes/metrics.ts'

export interface OpsParts {
  readonly config: Config
  /** The service that is watched. */
  readonly app: FastifyInstance
  readonly isStopping: () => boolean
}

/** Health and metrics on a port of their own, that the world need not reach: for OPS_PORT. */
export async function buildOps({ config, app, isStopping }: OpsParts): Promise<FastifyInstance> {
  const ops = Fastify({
    loggerInstance: app.log,
    logController: new RequestLog(),
    genReqId: makeRequestIds(config.TRUST_PROXY),
    return503OnClosing: false
  })
  await ops.register(logging)
  await ops.register(draining, { config })
  await ops.register(problems, { config })
  await ops.register(methods)
  await ops.register(health, { store: app.store, isStopping })
  await ops.register(metrics, { metrics: app.metrics })
  ops.completeMethods()
  return ops
}
