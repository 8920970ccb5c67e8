import Fastify, { type FastifyInstance } from 'fastify'
import type { DestinationStream } from 'pino'
import type { Config } from './config.ts'
import type { Documents } from './documents/documents.ts'
import { guest } from './domain/caller.ts'
import type { Store } from './domain/store.ts'
import { answerClientError } from './http/client-errors.ts'
import { listenerOptions } from './http/listener-options.ts'
import { targetReader } from './http/targets.ts'
import { loggerOptions } from './logging/options.ts'
import { makeRequestIds } from './logging/request-ids.ts'
import { RequestLog } from './logging/requests.ts'
import admission from './plugins/admission.ts'
import auth from './plugins/auth.ts'
import authorization from './plugins/authorization.ts'
import buyerDocuments from './plugins/buyer-documents.ts'
import caching from './plugins/caching.ts'
import checkedOrders from './plugins/checked-orders.ts'
import crowding from './plugins/crowding.ts'
import documents from './plugins/documents.ts'
import draining from './plugins/draining.ts'
import eventRetention from './plugins/event-retention.ts'
import eventWatch from './plugins/event-watch.ts'
import expectations from './plugins/expectations.ts'
import formPages from './plugins/form-pages.ts'
import formRequests from './plugins/form-requests.ts'
import framing from './plugins/framing.ts'
import idempotency from './plugins/idempotency.ts'
import limits from './plugins/limits.ts'
import logging from './plugins/logging.ts'
import methods from './plugins/methods.ts'
import negotiation from './plugins/negotiation.ts'
import observability from './plugins/observability.ts'
import openapi from './plugins/openapi.ts'
import preconditions from './plugins/preconditions.ts'
import prefer from './plugins/prefer.ts'
import problems from './plugins/problems.ts'
import rateLimit from './plugins/rate-limit.ts'
import representation from './plugins/representation.ts'
import responseCache from './plugins/response-cache.ts'
import scheduling from './plugins/scheduling.ts'
import securityHeaders from './plugins/security-headers.ts'
import sending from './plugins/sending.ts'
import session from './plugins/session.ts'
import sharing from './plugins/sharing.ts'
import store from './plugins/store.ts'
import visibility from './plugins/visibility.ts'
import webhooks from './plugins/webhooks.ts'
import catalogue from './routes/catalogue.ts'
import deliveries from './routes/deliveries.ts'
import docs from './routes/docs.ts'
import events from './routes/events.ts'
import health from './routes/health.ts'
import home from './routes/home.ts'
import metrics from './routes/metrics.ts'
import openapiDocument from './routes/openapi.ts'
import order from './routes/order.ts'
import orderOriginals from './routes/order-originals.ts'
import orderPages from './routes/order-pages.ts'
import orders from './routes/orders.ts'
import problemPages from './routes/problems.ts'
import product from './routes/product.ts'
import products from './routes/products.ts'
import publicFiles from './routes/public.ts'
import schemas from './routes/schemas.ts'
import signIn from './routes/session.ts'
import shipments from './routes/shipments.ts'
import status from './routes/status.ts'
import stock from './routes/stock.ts'
import webhookRoutes from './routes/webhooks.ts'

export interface AppOptions {
  readonly config: Config
  readonly store: Store
  readonly documents: Documents
  /** The version of the service, which is part of every entity tag. */
  readonly release: string
  /** The destination of the log; by default standard output. */
  readonly logTo?: DestinationStream
  readonly isStopping?: () => boolean
}

function serverOptions(config: Config) {
  return {
    logController: new RequestLog(),
    genReqId: makeRequestIds(config.TRUST_PROXY),
    ...listenerOptions(config),
    rewriteUrl: targetReader(config),
    clientErrorHandler: answerClientError(config)
  }
}

/** Builds the service, ready to listen. Plugins are registered in the order in which a request passes through them. */
export async function buildApp({
  config,
  store: database,
  documents: documentProcesses,
  release,
  logTo,
  isStopping = () => false
}: AppOptions): Promise<FastifyInstance> {
  const base = config.BASE_URL.path
  const app = Fastify({
    logger: { ...loggerOptions(config.LOG_LEVEL), ...(logTo ? { stream: logTo } : {}) },
    trustProxy: config.TRUST_PROXY.length > 0 ? [...config.TRUST_PROXY] : false,
    ...serverOptions(config)
  })

  await app.register(logging)
  await app.register(observability, { store: database, release })
  await app.register(draining, { config })
  await app.register(problems, { config })
  await app.register(securityHeaders)
  await app.register(scheduling)
  await app.register(rateLimit, { config })
  await app.register(limits, { config })
  await app.register(crowding)
  await app.register(sending, { config })
  await app.register(framing, { config })
  await app.register(methods, { config })
  await app.register(store, { store: database })
  await app.register(responseCache, { config })
  await app.register(negotiation)
  await app.register(session, { config })
  await app.register(auth)
  await app.register(documents, { config, documents: documentProcesses })
  await app.register(formRequests)
  await app.register(authorization, { config })
  await app.register(admission, { config })
  await app.register(visibility)
  await app.register(sharing)
  await app.register(eventWatch, { isStopping })
  await app.register(eventRetention, { config })
  await app.register(preconditions)
  await app.register(idempotency)
  await app.register(prefer)
  await app.register(caching, { config })
  await app.register(representation, { config, release })
  await app.register(formPages)
  await app.register(checkedOrders)
  await app.register(buyerDocuments, { config })
  await app.register(openapi, { config, release })
  await app.register(expectations)
  await app.register(webhooks, { config })

  // With OPS_PORT, buildOps serves health and metrics instead.
  if (config.OPS_PORT === undefined) {
    await app.register(health, { store: database, isStopping })
    await app.register(metrics, { metrics: app.metrics })
  }
  for (const route of [
    home,
    products,
    product,
    stock,
    catalogue,
    order,
    orderPages,
    orderOriginals,
    orders,
    events,
    webhookRoutes,
    deliveries,
    status,
    shipments,
    schemas,
    problemPages,
    openapiDocument,
    docs,
    publicFiles,
    signIn
  ]) {
    await app.register(route, { prefix: base, config })
  }
  app.completeMethods()
  return app
}

export interface OpsOptions {
  readonly config: Config
  /** The service that is monitored. */
  readonly app: FastifyInstance
  readonly isStopping: () => boolean
}

/** The most connections of the server for health and metrics. It is far below the file descriptors that http/descriptors.ts reserves. */
const opsConnections = 32

/**
 * Builds the server for health and metrics on OPS_PORT, which need not be public. It has the limits of the service except
 * for the rate limit, and it answers even if the service is overloaded.
 */
export async function buildOps({ config: shop, app, isStopping }: OpsOptions): Promise<FastifyInstance> {
  const config: Config = { ...shop, MAX_CONNECTIONS: Math.min(shop.MAX_CONNECTIONS, opsConnections), OVERLOAD_DELAY: undefined }
  const ops = Fastify({ loggerInstance: app.log, ...serverOptions(config) })
  // No request here shows a key, so every caller is a guest.
  ops.decorateRequest('caller', { getter: () => guest })
  await ops.register(logging)
  await ops.register(draining, { config })
  await ops.register(problems, { config })
  await ops.register(scheduling)
  await ops.register(limits, { config })
  await ops.register(crowding)
  await ops.register(sending, { config })
  await ops.register(framing, { config })
  await ops.register(methods, { config })
  await ops.register(health, { store: app.store, isStopping })
  await ops.register(metrics, { metrics: app.metrics })
  ops.completeMethods()
  return ops
}
