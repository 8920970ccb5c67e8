import { PositionError } from '../../domain/errors.ts'
import type { Audience } from '../../domain/event.ts'
import { isEventId } from '../event-ids.ts'
import { type EventOrderRow, eventsOf, type HeadRow, headColumns, headOf, lookupsOf } from '../event-rows.ts'
import type { Connection } from './connection.ts'
import { undecoded } from './rows.ts'
import type { Sync } from './write-verbs.ts'

type Bound = readonly (string | number)[]

const newestOfType = 'SELECT position FROM event INDEXED BY event_type WHERE type = ? ORDER BY position DESC LIMIT 1'
const newestOfCustomer =
  'SELECT position FROM event INDEXED BY event_customer WHERE customer = ? AND type = ? ORDER BY position DESC LIMIT 1'

const nextOfType = 'SELECT position FROM event INDEXED BY event_type WHERE type = ? AND position > ? ORDER BY position LIMIT ?'
const nextOfCustomer = `SELECT position FROM event INDEXED BY event_customer
  WHERE customer = ? AND type = ? AND position > ? ORDER BY position LIMIT ?`

/** Reads the outbox. */
export function makeEventReader(db: Connection): Sync<'eventHeads' | 'events' | 'lastEvent'> {
  const positionOf = db.prepare<[string], number>('SELECT position FROM event WHERE id = ?').pluck()
  const last = db.prepare<[], HeadRow>(`SELECT ${headColumns} FROM event e ORDER BY e.position DESC LIMIT 1`)
  const newestId = db.prepare<[], string>('SELECT id FROM event ORDER BY position DESC LIMIT 1').pluck()
  const at = db.prepare<[number], HeadRow>(`SELECT ${headColumns} FROM event e WHERE e.position = ?`)
  const ofType = db.prepare<[string], number>(newestOfType).pluck()
  const ofCustomer = db.prepare<[string, string], number>(newestOfCustomer).pluck()
  // Only events of orders have a status.
  const orderRow = db.prepare<[number], EventOrderRow>(
    `SELECT e.position, e.status, o.placed_at, ${undecoded('coalesce(e.content, o.content)')} AS content
      FROM event e LEFT JOIN purchase_order o ON e.status IS NOT NULL AND o.id = e.subject WHERE e.position = ?`
  )
  // One statement for each number of look-ups. There are few, because there are few types.
  const statements = new Map<string, ReturnType<typeof prepareLookups>>()

  function prepareLookups(types: number, ownTypes: number) {
    const parts = [...Array<string>(types).fill(nextOfType), ...Array<string>(ownTypes).fill(nextOfCustomer)]
    const found = parts.map((part) => `SELECT * FROM (${part})`).join(' UNION ALL ')
    return db.prepare<Bound[], HeadRow>(
      `SELECT ${headColumns} FROM event e WHERE e.position IN (SELECT position FROM (${found}) ORDER BY position LIMIT ?) ORDER BY e.position`
    )
  }

  function statementFor(types: number, ownTypes: number) {
    const name = `${types} ${ownTypes}`
    const statement = statements.get(name) ?? prepareLookups(types, ownTypes)
    statements.set(name, statement)
    return statement
  }

  function newestPosition(audience: Audience): number {
    const positions = lookupsOf(audience).map(({ type, customer }) =>
      customer === null ? ofType.get(type) : ofCustomer.get(customer, type)
    )
    return Math.max(0, ...positions.map((position) => position ?? 0))
  }

  function startOf(after: string | undefined): number {
    if (after === undefined) return 0
    const position = isEventId(after) ? positionOf.get(after) : undefined
    if (position === undefined) throw new PositionError('no event that is kept')
    return position
  }

  return {
    eventHeads({ audience, limit, after }) {
      // Most polls find nothing new, which one look-up tells.
      if (after !== undefined && after === newestId.get()) return []
      const start = startOf(after)
      const lookups = lookupsOf(audience)
      if (lookups.length === 0) return []
      const own = lookups.filter(({ customer }) => customer !== null)
      const bound = lookups.flatMap(({ type, customer }) => (customer === null ? [type, start, limit] : [customer, type, start, limit]))
      const rows = statementFor(lookups.length - own.length, own.length).all(...([...bound, limit] as unknown as Bound[]))
      // Events are deleted from the oldest on. As long as this one is kept, none after it was deleted before the page was read.
      startOf(after)
      return rows.map(headOf)
    },
    events: (heads) => eventsOf(heads, ({ position }) => orderRow.get(position)),
    lastEvent(audience) {
      const row = audience === undefined ? last.get() : at.get(newestPosition(audience))
      return row && headOf(row)
    }
  }
}
