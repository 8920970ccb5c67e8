import type { IncomingMessage } from 'node:http'
import { makeProxyCheck } from '../http/proxies.ts'
import { makeRandomPool } from '../random-pool.ts'

const acceptableId = /^[A-Za-z0-9._:=+-]{1,128}$/

const randomBytes = makeRandomPool(12)

/** It is not a UUID, because that would look like an order's id and be masked. */
function randomId(): string {
  return randomBytes().toString('hex')
}

/** @param given the X-Request-Id of a trusted proxy, so that both logs use the same id */
export function requestId(given: string | undefined): string {
  return given !== undefined && acceptableId.test(given) ? given : randomId()
}

/** Makes Fastify's `genReqId`. Only a trusted proxy may choose an id. */
export function makeRequestIds(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const isProxy = makeProxyCheck(trustedProxies)
  return ({ headers, socket }) => {
    const given = headers['x-request-id']
    return requestId(typeof given === 'string' && isProxy(socket?.remoteAddress ?? '') ? given : undefined)
  }
}
