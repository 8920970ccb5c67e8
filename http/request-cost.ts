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
