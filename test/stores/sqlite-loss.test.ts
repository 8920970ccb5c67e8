import { readFileSync, writeFileSync } from 'node:fs'
import { copyFile, rename } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { add, decimal, plain } from '../../domain/money.ts'
import type { Placed } from '../../domain/store.ts'
import { connectWriter } from '../../stores/sqlite/connection.ts'
import { openSqliteStore } from '../../stores/sqlite/store.ts'
import { draft, everyOrder, everything, item, onHand, placing, purchase, shopCurrency, stocked } from './fixtures.ts'
import { openStoreWithWriter } from './sqlite-with-writer.ts'

/** The orders that were acknowledged; the rest must have been refused as the store being out of reach. */
async function acknowledged(t: Test, attempts: readonly Promise<Placed>[]): Promise<string[]> {
  const settled = await Promise.allSettled(attempts)
  const reasons = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  t.same(
    reasons.filter((error) => !(error instanceof DomainError && error.code === 'store-unavailable')),
    []
  )
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value.order.id] : []))
}

async function untilItWrites(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'store-unavailable')) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

t.test('a writer that is killed loses nothing acknowledged, answers the rest, and is replaced', async (t) => {
  const { store, writer } = await openStoreWithWriter(t)
  await store.createProduct('a', stocked(100_000))
  const known: string[] = []
  for (let round = 0; round < 2; round++) {
    const first = Array.from({ length: 2500 }, () => store.placeOrder(placing('a')))
    await first[0]
    const attempts = [...first, ...Array.from({ length: 500 }, () => store.placeOrder(placing('a')))]
    const killed = writer.kill()
    known.push(...(await acknowledged(t, attempts)))
    await killed
    await untilItWrites(() => store.createProduct(`after ${round}`, draft()))
  }
  const orders = new Set((await everything((after) => store.orders({ limit: 500, ...after }))).map(({ id }) => id))
  t.ok(known.length >= 2 && known.every((id) => orders.has(id)), `${known.length} acknowledged, ${orders.size} there`)
  t.equal(plain(add(await onHand(store, 'a'), decimal(String(orders.size)))), '100000')
})

t.test('a command whose writer is lost gets what is known: stored, perhaps stored, or not stored', async (t) => {
  const { store, writer } = await openStoreWithWriter(t)
  await store.createProduct('a', stocked(100_000))
  const attempts = Array.from({ length: 6_000 }, (_, i) =>
    store.placeOrder(placing('a', 1, { order: purchase([item('a')], { notes: [`${i}`] }) }))
  )
  await attempts[0]
  await writer.kill()
  const settled = await Promise.allSettled(attempts)
  const there = new Set((await everyOrder(store)).flatMap(({ notes }) => notes))
  const outcomes = settled.map((result) =>
    result.status === 'fulfilled' ? 'placed' : /Nothing was stored/.test(result.reason.message) ? 'not' : 'unknown'
  )
  t.ok(outcomes.includes('placed') && outcomes.includes('not'))
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome !== 'unknown' && there.has(`${i}`) !== (outcome === 'placed')) t.fail(`order ${i} was answered as "${outcome}"`)
  }
  for (const result of settled) {
    if (result.status === 'rejected' && !/Nothing was stored/.test(result.reason.message))
      t.match(result.reason.message, /same Idempotency-Key/)
  }
})

t.test('a full disk refuses writes, loses nothing acknowledged, and is recovered from', async (t) => {
  const { store, path } = await openStoreWithWriter(t, { maxPages: 300 })
  await store.createProduct('a', stocked(100_000))
  const known: string[] = []
  const fill = async (count: number) => {
    for (let more = count; more > 0; ) {
      const placed = await acknowledged(
        t,
        Array.from({ length: count }, () => store.placeOrder(placing('a')))
      )
      known.push(...placed)
      more = placed.length
    }
  }
  await fill(100)
  t.ok(known.length > 100)
  // An order's random id decides which page it goes to, so the file is full only when many orders in a row are refused.
  for (let refused = 0; refused < 20; ) {
    const before = known.length
    await fill(1)
    refused = known.length === before ? refused + 1 : 0
  }
  const orders = await everything((after) => store.orders({ limit: 500, ...after }))
  t.same(new Set(orders.map(({ id }) => id)), new Set(known))
  t.equal(plain(add(await onHand(store, 'a'), decimal(String(known.length)))), '100000')
  await t.rejects(store.ping(), { code: 'store-unavailable' }, 'nor is it ready for orders')
  t.equal((await store.product('a')).id, 'a', 'it is still read')
  const other = connectWriter(path)
  other.exec('DELETE FROM purchase_order')
  other.close()
  await t.resolves(store.ping(), 'a ping finds out that it is over')
  await store.placeOrder(placing('a'))
})

t.test('while another process holds the lock, writes are refused after a while, and reads go on', async (t) => {
  const { store, path } = await openStoreWithWriter(t)
  await store.createProduct('a', stocked(10))
  const other = connectWriter(path)
  other.exec('BEGIN IMMEDIATE')
  const attempt = store.placeOrder(placing('a'))
  t.equal((await store.product('a')).id, 'a')
  await t.rejects(attempt, { code: 'store-unavailable' })
  other.exec('ROLLBACK')
  other.close()
  await store.placeOrder(placing('a'))
  t.equal(await onHand(store, 'a'), '9')
})

t.test('after a statement has found the file damaged, the store is not ready until it is opened again', async (t) => {
  for (const use of ['read', 'search', 'write'] as const) {
    const { store, path } = await openStoreWithWriter(t)
    await store.importProducts(Array.from({ length: 200 }, (_, i) => ({ id: `p-${i}`, draft: draft({ description: 'x'.repeat(4000) }) })))
    await store.close()
    const opened = await openSqliteStore({ path, currency: shopCurrency })
    t.teardown(() => opened.close())
    const whole = readFileSync(path)
    writeFileSync(path, Buffer.from(whole).fill(0x55, 8192))
    const attempt: () => Promise<unknown> = {
      read: () => opened.product('p-150'),
      search: () => opened.products({ limit: 5, q: 'bolt' }),
      write: () => opened.putProduct('p-150', draft(), {})
    }[use]
    const refusal = (error: DomainError) => t.match(String(error.cause), /is damaged: restore a backup \(SQLITE_CORRUPT/, use)
    await attempt().then(() => t.fail(use), refusal)
    writeFileSync(path, whole)
    await opened.ping().then(() => t.fail(use), refusal)
  }
})

t.test('while the file is not in its place nothing is read or written, and what was is there when it is back', async (t) => {
  const { store, path } = await openStoreWithWriter(t)
  await store.createProduct('a', stocked(10))
  await rename(path, `${path}.moved`)
  await t.rejects(store.placeOrder(placing('a')), { code: 'store-unavailable' })
  await t.rejects(store.product('a'), { code: 'store-unavailable' })
  await t.rejects(store.ping(), { code: 'store-unavailable' })
  const cause = `${path} is not there any more: put the file back, or restart the shop`
  await t.rejects(store.product('a'), { cause }, 'the operator is told why')
  await copyFile(`${path}.moved`, path)
  await t.rejects(store.placeOrder(placing('a')), { code: 'store-unavailable' }, 'nor while there is another file')
  await rename(`${path}.moved`, path)
  await store.placeOrder(placing('a'))
  t.equal(await onHand(store, 'a'), '9')
})
