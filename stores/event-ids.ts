import { v7 } from 'uuid'
import { makeRandomPool } from '../random-pool.ts'

const randomBytes = makeRandomPool(16)

/**
 * A new id for an event. Ids of UUID version 7 begin with the time (RFC 9562 section 5.7), so that they are inserted at the end of
 * their index. The rest is random: the library's counter would tell how many events there were within a millisecond.
 * @param at milliseconds since the epoch
 */
export function newEventId(at: number): string {
  return v7({ msecs: at, random: randomBytes() })
}

/** Whether a text has the form of an event's id. PostgreSQL would throw for a text that is no UUID, and accept one in capitals. */
export function isEventId(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)
}
