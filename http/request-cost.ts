/** Large or slow requests count as several requests. */
const costs = {
  /** Bytes of a body that count as one request. */
  bodyBytes: 64 * 1024,
  /** Milliseconds of the document process that count as one request. */
  workMilliseconds: 50
} as const

/** The costs as parameters of the RateLimit-Policy field. Parameters of our own have a prefix, as the draft requires. */
export const costParameters = `tradepost-body-bytes=${costs.bodyBytes};tradepost-work-ms=${costs.workMilliseconds}`

/** The additional requests for a body: one for each started 64 KiB after the first. */
export function costOfBody(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / costs.bodyBytes) - 1)
}

/** The additional requests for the time of the document process. */
export function costOfWork(milliseconds: number): number {
  return Math.floor(milliseconds / costs.workMilliseconds)
}

/** The bytes of a body that was read: of a document, or of a form. */
export function bytesOfBody(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 0
  if ('bytes' in body && body.bytes instanceof Uint8Array) return body.bytes.length
  return 'form' in body && typeof body.form === 'string' ? Buffer.byteLength(body.form) : 0
}
