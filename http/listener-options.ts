import type { Config } from '../config.ts'
import { OnePieceResponse } from './one-piece-response.ts'

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
      requireHostHeader: false,
      ServerResponse: OnePieceResponse
    },
    return503OnClosing: false,
    routerOptions: { maxParamLength: config.MAX_URL_LENGTH }
  }
}
