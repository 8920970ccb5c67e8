/** The program of the killed process: it writes to the store from many sides at once, reads the events, and prints each acknowledgement. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Audience, audienceOf, type EventType, everyone } from '../../domain/event.ts'
import { decimal } from '../../domain/money.ts'
import type { Order, PurchaseOrder } from '../../domain/order.ts'
import type { Placing, Store } from '../../domain/store.ts'
import { draft, item, purchase, stocked } from './fixtures.ts'

export const crashProducts = ['a', 'b', 'c', 'd', 'e'] as const
/** Orders take more of it than there is and give it back, so that its availability changes again and again. */
const scarceProduct = 'scarce'
/** The seller writes it from many sides at once. No order takes it. */
export const countedProduct = 'counted'

/** The stock of the products that orders take. */
export const startStock: ReadonlyMap<string, string> = new Map([
  ...crashProducts.map((id) => [id, '1000000'] as const),
  [scarceProduct, '5']
])

/** An event that an acknowledged write must have. */
export interface ExpectedEvent {
  readonly type: EventType
  readonly subject: string
  readonly version: number
}

export interface Acknowledged {
  /** The number of writes that were acknowledged before this one began. */
  readonly began: number
  /** All events of the write, in their order. */
  readonly events: readonly ExpectedEvent[]
  /** The idempotency key of a placed order, which is also its note. */
  readonly key?: string
  readonly order?: Order
}

/** The audiences that follow the events. */
export const readers = {
  everything: everyone,
  buyer: audienceOf({ kind: 'key', keyId: 'acme', customer: 'acme', scopes: ['order'] })
} satisfies Record<string, Audience>

export type ReaderName = keyof typeof readers

/** A line of the output. */
export type OutputLine = { readonly acknowledged: Acknowledged } | { readonly reader: ReaderName; readonly seen: readonly string[] }

/** The output and the end of a load. */
export interface Course {
  say(line: OutputLine): void
  /** Called when a write or a read is refused. What it throws ends the load. */
  refused(error: unknown): Promise<void>
  isStopped(): boolean
}

const orderWriters = 32
const catalogueWriters = 4

export async function stockShop(store: Store): Promise<void> {
  for (const [id, onHand] of startStock) await store.createProduct(id, stocked(onHand, { unit: 'KGM', backorder: id === scarceProduct }))
  await store.createProduct(countedProduct, stocked(1))
}

export function keyed(key: string, products: readonly string[], padding = 0): Placing {
  const order = content(key, products, padding)
  return { order, customer: 'acme', status: 'accepted', idempotency: { scope: 'acme', key, fingerprint: key } }
}

/** A large content is kept in other ways than a small one. */
function content(key: string, products: readonly string[], padding: number, quantity = '1.5'): PurchaseOrder {
  const extensions = padding === 0 ? [] : [{ name: 'padding', value: 'x'.repeat(padding) }]
  return purchase(
    products.map((id) => item(id, quantity)),
    { notes: [key], extensions }
  )
}

/** One write of one line, which on a pipe is done when it returns. */
export async function writeUntilKilled(stores: readonly [Store, ...Store[]]): Promise<never> {
  await load(stores, {
    say: (line) => process.stdout.write(`${JSON.stringify(line)}\n`),
    refused: async (error) => {
      throw error
    },
    isStopped: () => false
  })
  throw new Error('a load that never ends has ended')
}

/** Writes and reads until it is stopped. @param stores replicas on one database, which share the work */
export async function load(stores: readonly [Store, ...Store[]], course: Course): Promise<void> {
  const replica = (i: number): Store => stores[i % stores.length] ?? stores[0]
  const acknowledge = acknowledging(course)
  const write = async (step: (i: number) => Promise<void>) => {
    for (let i = 0; !course.isStopped(); i++) await step(i).catch(course.refused)
  }
  const ordering = Array.from({ length: orderWriters }, (_, writer) =>
    write((i) => writeOrder(replica(writer), replica(writer + i), acknowledge, writer, i))
  )
  const selling = Array.from({ length: catalogueWriters }, (_, writer) =>
    write((i) => writeCatalogue(replica(writer), acknowledge, `p-${writer}-${i}`, i))
  )
  const reading = (['everything', 'buyer'] as const).map((name, i) => follow(replica(i + 1), course, name))
  await Promise.all([...ordering, ...selling, ...reading])
}

type Acknowledge = <T>(write: Promise<T>, expected: (result: T) => Omit<Acknowledged, 'began'>) => Promise<T>

/** Numbers what is acknowledged. The promise of a write must be made in the call. */
function acknowledging({ say }: Course): Acknowledge {
  let count = 0
  return async (write, expected) => {
    const began = count
    const result = await write
    count += 1
    say({ acknowledged: { began, ...expected(result) } })
    return result
  }
}

/** Reads on from the last event that it has, as a client of the feed does. */
async function follow(store: Store, { say, refused, isStopped }: Course, reader: ReaderName): Promise<void> {
  let last: string | undefined
  for (let i = 0; !isStopped(); i++) {
    try {
      const heads = await store.eventHeads({
        audience: readers[reader],
        limit: 1 + (i % 50),
        ...(last === undefined ? {} : { after: last })
      })
      if (heads.length > 0) say({ reader, seen: heads.map(({ id }) => id) })
      else await sleep(2)
      last = heads.at(-1)?.id ?? last
    } catch (error) {
      await refused(error)
    }
  }
}

/** Places an order at one replica, and does to it at another what orders go through. */
async function writeOrder(store: Store, other: Store, acknowledge: Acknowledge, writer: number, i: number): Promise<void> {
  const key = `${writer}-${i}`
  const scenario = (writer + i) % 6
  const products = crashProducts.slice(i % 4, (i % 4) + 1 + (writer % 3))
  const padding = scenario < 4 ? 0 : writer < 6 ? 40_000 : 5_000
  const expected =
    (...types: readonly EventType[]) =>
    (order: Order) => ({ key, order, events: types.map((type) => ({ type, subject: order.id, version: order.version })) })
  const placing = keyed(key, scenario % 2 === 0 ? [...products, scarceProduct] : products, padding)
  const { order } = await acknowledge(store.placeOrder(placing), (placed) => expected('order-placed')(placed.order))
  const { id } = order
  const change = (version: number) =>
    acknowledge(other.changeOrder(id, content(key, ['e'], padding, `${version}`), { version }), expected('order-changed'))
  const set = (status: Order['status'], version: number, ...types: readonly EventType[]) =>
    acknowledge(other.setOrderStatus(id, status, { version }), expected(...types))
  const note = (version: number) =>
    acknowledge(other.setOrderStatus(id, 'accepted', { version }, { details: { note: key } }), expected('order-changed'))
  const ship = (version: number, isRest: boolean) =>
    acknowledge(other.shipOrder(id, isRest ? {} : { items: [{ line: 1, quantity: decimal('0.5') }] }, { version }), () => ({
      key,
      events: (['order-shipped', ...(isRest ? (['order-status-changed'] as const) : [])] as const).map((type) => ({
        type,
        subject: id,
        version: version + 1
      }))
    }))

  if (scenario === 1) {
    await change(1)
  } else if (scenario === 2) {
    await set('cancelled', 1, 'order-status-changed')
  } else if (scenario === 3) {
    await ship(1, false)
    await ship(2, true)
  } else if (scenario === 4) {
    await ship(1, false)
    await note(2)
    await set('cancelled', 3, 'order-status-changed')
  } else if (scenario === 5) {
    await change(1)
    await note(2)
    await change(3)
    await set('shipped', 4, 'order-shipped', 'order-status-changed')
    await set('completed', 5, 'order-status-changed')
  }
}

/** Takes a new product through all that can be written of it, and writes the product that all write. */
async function writeCatalogue(store: Store, acknowledge: Acknowledge, id: string, i: number): Promise<void> {
  const expected =
    (...events: readonly (readonly [EventType, number])[]) =>
    () => ({ events: events.map(([type, version]) => ({ type, subject: id, version })) })
  await acknowledge(store.createProduct(id, stocked(5)), expected(['product-created', 1], ['stock-set', 1]))
  await acknowledge(store.importProducts([{ id, draft: stocked(6, { name: 'Saw' }) }]), expected(['product-changed', 2], ['stock-set', 2]))
  await acknowledge(store.putStock(id, decimal('0'), {}), expected(['product-changed', 3], ['stock-set', 3]))
  await acknowledge(store.putProduct(id, draft({ name: 'Drill' }), {}), expected(['product-changed', 4]))
  if (i % 2 === 0) await acknowledge(store.deleteProduct(id, { version: 4 }), expected(['product-deleted', 5]))
  await acknowledge(store.putProduct(countedProduct, draft({ name: id }), {}), ({ product: { version } }) => ({
    events: [{ type: 'product-changed', subject: countedProduct, version }]
  }))
  await acknowledge(store.putStock(countedProduct, decimal(`${i % 2}`), {}), ({ version }) => ({
    events: [{ type: 'stock-set', subject: countedProduct, version }]
  }))
}
