/**
 * Cursors for readers who have heard no event yet. Such a cursor cannot name an event that the reader has heard, and an event of
 * others would reveal when it happened. So it has only a time, and expires before events of that time are deleted.
 */

/** A start is rounded down to a multiple of this part of the time for which events are kept, so that pages rarely change. */
const step = 1 / 8

/** A start is valid for this part of that time. The rest allows for clocks that differ between replicas or are set back. */
const kept = 1 / 2

/** A UUID of version 8 (RFC 9562 section 5.8), while the ids of events have version 7. */
const pattern = /^([0-9a-f]{8})-([0-9a-f]{4})-8000-8000-000000000000$/

/**
 * @param now milliseconds since the epoch
 * @param keep milliseconds for which events are kept
 */
export function startCursor(now: number, keep: number): string {
  const unit = Math.max(1, keep * step)
  const time = Math.floor(Math.floor(now / unit) * unit)
    .toString(16)
    .padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-8000-8000-000000000000`
}

export function isStart(cursor: string): boolean {
  return pattern.test(cursor)
}

/** Whether no event since the start can be deleted by now. Call it after the events are read. */
export function isStartKept(cursor: string, now: number, keep: number): boolean {
  const [, high, low] = pattern.exec(cursor) ?? []
  const age = now - Number.parseInt(`${high}${low}`, 16)
  return age <= keep * kept && age >= -keep * step
}
