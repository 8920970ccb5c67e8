import { randomFillSync } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { makeProxyCheck } from '../http/proxies.ts'

const acceptableId = /^[A-Za-z0-9._:=+-]{1,128}$/

const idBytes = 12
/** Random bytes for this many ids. One call for many ids takes a tenth of the time. */
const pool = Buffer.alloc(idBytes * 256)
let used = pool.length

/** It is not a UUID, because that would look like an order's id and be masked. */
function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += idBytes
  return pool.toString('hex', used - idBytes, used)
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
