/** Large or slow requests count as several requests. */
const costs = {
  /** Bytes of a body that count as one request. */
  bodyBytes: 64 * 1024,
  /** Milliseconds of the document process that count as one request. */
  workMilliseconds: 50,
  /** Events of one write that count as one request. Webhooks get no more than some hundreds of events a second. */
  events: 20
} as const

/** The costs as parameters of the RateLimit-Policy field. Parameters of our own have a prefix, as the draft requires. */
export const costParameters = `tradepost-body-bytes=${costs.bodyBytes};tradepost-work-ms=${costs.workMilliseconds};tradepost-events=${costs.events}`

/** The additional requests for a body: one for each started 64 KiB after the first. */
export function costOfBody(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / costs.bodyBytes) - 1)
}

/** The additional requests for the time of the document process. */
export function costOfWork(milliseconds: number): number {
  return Math.floor(milliseconds / costs.workMilliseconds)
}

/** The additional requests for the events that a write makes. An order and its cancellation make one for each product that sells out. */
export function costOfEvents(events: number): number {
  return Math.floor(events / costs.events)
}
