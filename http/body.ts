import type { IncomingMessage } from 'node:http'

/** Whether a request has a body that is not empty, as its head says (RFC 9112 section 6.3). */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0
}

/** Longer bodies are sent as bytes and not as strings, because plugins/sending counts the unsent bytes of slow readers. */
export const maxStringBody = 16 * 1024
