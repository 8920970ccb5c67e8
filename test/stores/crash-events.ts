/** Looks at the outbox that a crash has left: what was acknowledged has its events, and no event is without its change. */

import { DomainError } from '../../domain/errors.ts'
import { type Audience, everyone, hears, type ShopEvent } from '../../domain/event.ts'
import type { Order } from '../../domain/order.ts'
import type { Store } from '../../domain/store.ts'
import { type Acknowledged, countedProduct, type ExpectedEvent, type ReaderName, readers } from './crash-load.ts'

/** The versions that a product and its stock have. Undefined for a deleted product, which shows neither. */
type Versions = { readonly product: number; readonly stock: number } | undefined

/**
 * The faults of the events, in words.
 * @param acknowledged in the order in which it was acknowledged
 * @param seen the ids of the events that each reader saw, in its order
 */
export async function eventFaults(
  store: Store,
  orders: ReadonlyMap<string, Order>,
  acknowledged: readonly Acknowledged[],
  seen: Readonly<Record<ReaderName, readonly string[]>>
): Promise<string[]> {
  const events = await heard(store, everyone)
  const gap = events.findIndex(({ position }, i) => position !== i + 1)
  const wrong = gap < 0 ? [] : [`the event at ${gap + 1} has the position ${events[gap]?.position}`]
  if ((await store.lastEvent())?.id !== events.at(-1)?.id) wrong.push('the last event is another than the last of the list')
  wrong.push(...acknowledgedFaults(events, acknowledged), ...orderFaults(events, orders), ...(await catalogueFaults(store, events)))
  for (const name of ['everything', 'buyer'] as const) wrong.push(...(await readerFaults(store, name, seen[name], events)))
  return wrong
}

/** The events of an audience after one of them, whole. */
async function heard(store: Store, audience: Audience, after?: string): Promise<ShopEvent[]> {
  const all: ShopEvent[] = []
  for (let last = after; ; last = all.at(-1)?.id) {
    const heads = await store.eventHeads({ audience, limit: 100, ...(last === undefined ? {} : { after: last }) })
    if (heads.length === 0) return all
    all.push(...(await store.events(heads)))
  }
}

const nameOf = ({ type, subject, version }: ExpectedEvent) => `${type} ${subject} ${version}`
const ofVersion = ({ subject, version }: Pick<ExpectedEvent, 'subject' | 'version'>) => `${subject} ${version}`

/** Each acknowledged write has its events once, with its content, after those of every write that was acknowledged before it began. */
function acknowledgedFaults(events: readonly ShopEvent[], acknowledged: readonly Acknowledged[]): string[] {
  const wrong: string[] = []
  const found = new Map(events.map((event) => [nameOf(event), event]))
  if (found.size !== events.length) wrong.push(`${events.length - found.size} events are there twice`)
  const versions = groupBy(events, ofVersion)
  /** The last position of the events of all that was acknowledged until then. */
  const reached = [0]
  for (const { began, events: expected, order } of acknowledged) {
    const positions: number[] = []
    for (const one of expected) {
      const event = found.get(nameOf(one))
      if (!event) wrong.push(`${nameOf(one)} was acknowledged and has no event`)
      else positions.push(event.position)
      if (event && order && !isSame(event.order, order)) wrong.push(`the event ${nameOf(one)} has another order than was acknowledged`)
      if (event?.order && versions.get(ofVersion(one))?.length !== expected.length)
        wrong.push(`${nameOf(one)} has more events than its own`)
    }
    const names = expected.map(nameOf).join(', ')
    if (positions.some((position, i) => position < (positions[i - 1] ?? 0))) wrong.push(`out of order: ${names}`)
    if (Math.min(...positions) <= (reached[began] ?? 0)) wrong.push(`${names} come before what was acknowledged before they began`)
    reached.push(Math.max(...positions, reached.at(-1) ?? 0))
  }
  return wrong
}

/** Every version of every order has its events, in the order of versions, and the newest has the order as it is. */
function orderFaults(events: readonly ShopEvent[], orders: ReadonlyMap<string, Order>): string[] {
  const wrong: string[] = []
  const ofOrder = groupBy(
    events.filter(({ type }) => type.startsWith('order-')),
    ({ subject }) => subject
  )
  for (const id of ofOrder.keys()) if (!orders.has(id)) wrong.push(`there is no order ${id}, and it has events`)
  for (const [id, order] of orders) {
    const its = ofOrder.get(id) ?? []
    wrong.push(...versionFaults(`order ${id}`, its, order.version))
    if (its.some((event) => event.order?.version !== event.version)) wrong.push(`an event of ${id} has not its version of the order`)
    if (!isSame(its.at(-1)?.order, order)) wrong.push(`the newest event of ${id} has another order than there is`)
    if (its.some(({ type, version }) => (type === 'order-placed') !== (version === 1))) wrong.push(`${id} was not placed once`)
  }
  return wrong
}

/** Every version of every product has its event, and so has every stock that the seller counted. */
async function catalogueFaults(store: Store, events: readonly ShopEvent[]): Promise<string[]> {
  const wrong: string[] = []
  const ofProduct = groupBy(
    events.filter(({ type }) => !type.startsWith('order-')),
    ({ subject }) => subject
  )
  for await (const batch of store.allProducts()) {
    for (const { id } of batch) if (!ofProduct.has(id)) wrong.push(`the product ${id} has no event`)
  }
  for (const [id, its] of ofProduct) {
    const now = await versionsOf(store, id).catch((error: unknown) => error)
    if (now instanceof Error) {
      wrong.push(`${id} has events and cannot be read: ${now.message}`)
      continue
    }
    const [stock, product] = [its.filter(({ type }) => type === 'stock-set'), its.filter(({ type }) => type !== 'stock-set')]
    const newest = product.at(-1)
    if ((newest?.type === 'product-deleted') !== (now === undefined)) wrong.push(`${id} is deleted, or its newest event says so: not both`)
    wrong.push(...versionFaults(`product ${id}`, product, (now as Versions)?.product))
    // Orders take stock without an event.
    const isCounted = id === countedProduct || id.startsWith('p-')
    wrong.push(...versionFaults(`stock of ${id}`, stock, isCounted ? (now as Versions)?.stock : 1))
  }
  return wrong
}

async function versionsOf(store: Store, id: string): Promise<Versions> {
  try {
    return { product: (await store.product(id)).version, stock: (await store.stock(id)).version }
  } catch (error) {
    if (error instanceof DomainError && error.code === 'product-deleted') return undefined
    throw error
  }
}

/** @param last undefined: not known */
function versionFaults(what: string, events: readonly ShopEvent[], last: number | undefined): string[] {
  const versions = events.map(({ version }) => version)
  const distinct = versions.filter((version, i) => version !== versions[i - 1])
  const isGapless = distinct.every((version, i) => version === i + 1)
  if (isGapless && (last === undefined || distinct.length === last)) return []
  return [`${what} has the version ${last}, and events of the versions ${versions.join(' ')}`]
}

/** A reader has missed nothing and seen nothing twice, and goes on from its last event as if nothing had happened. */
async function readerFaults(store: Store, name: ReaderName, seen: readonly string[], events: readonly ShopEvent[]): Promise<string[]> {
  const audience = readers[name]
  const rest = await heard(store, audience, seen.at(-1))
  const all = [...seen, ...rest.map(({ id }) => id)]
  const expected = events.filter((event) => hears(audience, event)).map(({ id }) => id)
  const at = all.findIndex((id, i) => id !== expected[i])
  if (at < 0 && all.length === expected.length) return []
  return [
    `the reader of ${name} saw ${all.length} events of ${expected.length}, and another than there is at ${at}, after ${seen.length} before the crash`
  ]
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}

/** Whether two orders are the same, in whatever order their properties are. */
export function isSame(order: Order | undefined, other: Order): boolean {
  return order !== undefined && JSON.stringify(sorted(order)) === JSON.stringify(sorted(other))
}

function sorted(order: Order): unknown {
  return Object.entries(order).sort(([a], [b]) => (a < b ? -1 : 1))
}
