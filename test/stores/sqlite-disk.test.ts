import { join } from 'node:path'
import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import type { Placed } from '../../domain/store.ts'
import { openWithWriter } from '../../stores/sqlite/store.ts'
import { smallDisk } from '../small-disk.ts'
import { everyOrder, item, purchase, shopCurrency, stocked } from './fixtures.ts'

const noDisk = { skip: 'needs the right to mount a disk' }

t.test('on a full disk each refused order says that nothing was stored, and nothing of it is there', async (t) => {
  const disk = smallDisk(t, 2)
  if (!disk) return t.pass('', noDisk)
  const path = join(disk.folder, 'shop.db')
  const { store, writer } = await openWithWriter({ path, currency: shopCurrency })
  await store.createProduct('a', stocked(100_000))
  const place = (note: string) => store.placeOrder({ order: purchase([item('a')], { notes: [note] }), status: 'accepted' })
  const settledByNote = new Map<string, PromiseSettledResult<Placed>>()
  for (let i = 0; i < 20; i++) {
    // As much as the log's frames of an order take, or less.
    disk.fill(i * 2048)
    const notes = [0, 1, 2].map((n) => `${i}-${n}`)
    const settled = await Promise.allSettled(notes.map(place))
    for (const [n, note] of notes.entries()) settledByNote.set(note, settled[n] as PromiseSettledResult<Placed>)
  }
  const refusals = [...settledByNote.values()].flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  t.ok(refusals.length > 20, `${refusals.length} of ${settledByNote.size} were refused`)
  for (const reason of refusals) {
    if (!(reason instanceof DomainError && reason.code === 'store-unavailable')) t.fail('refused otherwise', { reason })
  }
  t.same(new Set(refusals.map(({ message }) => /Nothing was stored/.test(message))), new Set([true]))
  t.match(refusals.at(-1)?.cause, /shop\.db cannot be .*written: the disk is full/)

  // The writer dies as in a crash, so the next one to open the file finds what the write-ahead log has.
  await writer.kill()
  await store.close()
  disk.clear()
  const again = await openWithWriter({ path, currency: shopCurrency })
  t.teardown(() => again.store.close())
  const there = new Set((await everyOrder(again.store)).flatMap(({ notes }) => notes))
  for (const [note, { status }] of settledByNote) if (there.has(note) !== (status === 'fulfilled')) t.fail(`order ${note} was ${status}`)
  t.equal(Number((await again.store.stock('a')).onHand), 100_000 - there.size)
})

t.test('the error says that the disk has no room for a new database', async (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) return t.pass('', noDisk)
  disk.fill()
  const path = join(disk.folder, 'shop.db')
  await t.rejects(openWithWriter({ path, currency: shopCurrency }), {
    name: 'StoreOpenError',
    message: /shop\.db cannot be .*written: the disk is full/
  })
  disk.clear()
  const { store } = await openWithWriter({ path, currency: shopCurrency })
  await store.close()
})

t.test('the error says that the disk is mounted read-only', async (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) return t.pass('', noDisk)
  const path = join(disk.folder, 'shop.db')
  const open = () => openWithWriter({ path, currency: shopCurrency })
  await (await open()).store.close()
  disk.remount('ro')
  await t.rejects(open(), {
    name: 'StoreOpenError',
    message: /^\/.*shop\.db cannot be .*written: the disk is mounted read-only; mount it for writing, or set DATABASE_URL to another path$/
  })
})
