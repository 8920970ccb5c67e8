/**
 * Signatures as Standard Webhooks 1.0.0 defines them (https://www.standardwebhooks.com). They are made with node:crypto and
 * not with the library `standardwebhooks`, whose SHA-256 is written in JavaScript: an order of megabytes would hold up the
 * deliveries to others. The tests verify every signature with that library.
 */

import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** Bytes of randomness in a secret. The specification asks for 24 to 64. */
const secretBytes = 32

export function makeSecret(): string {
  return `${prefix}${randomBytes(secretBytes).toString('base64')}`
}

/** The secrets with which a body is signed, and the values that are signed with it. */
export interface Signing {
  /** The event's id: the same on every repetition. */
  readonly id: string
  /** Seconds since the epoch. */
  readonly timestamp: number
  readonly secrets: readonly string[]
}

/** The header fields of a delivery, with a signature for each secret. */
export function signatureHeaders({ id, timestamp, secrets }: Signing, body: Uint8Array): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') }
}
