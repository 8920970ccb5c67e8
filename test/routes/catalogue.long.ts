import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build, draft, type Shop } from '../build.ts'
import { get, type Reading, watch } from './catalogue-reading.ts'

/** Adds many products: their catalogue is far larger than the buffers of a connection. @returns their number */
async function fill({ store }: Shop): Promise<number> {
  const description = 'x'.repeat(4000)
  const ids = Array.from({ length: 8000 }, (_, i) => `p${String(i).padStart(5, '0')}`)
  for (let i = 0; i < ids.length; i += 1000) {
    await store.importProducts(ids.slice(i, i + 1000).map((id) => ({ id, draft: draft({ description }) })))
  }
  return ids.length
}

/** A client that reads only when it is asked to. */
async function ask(t: Test, { app }: Shop): Promise<Socket> {
  const address = new URL(await app.listen({ port: 0 }))
  const socket = connect(Number(address.port), address.hostname)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.pause().write('GET /catalogue HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n')
  return socket
}

/**
 * Downloads the catalogue beside the first download. The two take turns, so the service could have read all of the first one
 * by the end of this one. @returns how many batches it has read for the first one, and how many a catalogue has
 */
async function downloadBeside(shop: Shop, reading: Reading): Promise<{ ahead: number; all: number }> {
  while (reading.started === 0) await turnOfTheLoop()
  await get(shop)
  return { ahead: reading.batchesOfFirst, all: reading.batches - reading.batchesOfFirst }
}

t.test('a client that reads slowly is not read ahead for, and gets everything in the end', async (t) => {
  const shop = await build(t, { products: {} })
  const count = await fill(shop)
  const reading = watch(shop.store)
  const socket = await ask(t, shop)
  const { ahead, all } = await downloadBeside(shop, reading)
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  t.ok(ahead < all / 2, `${ahead} of ${all} batches were read before the client took any`)
  t.equal(reading.ended, 2)
  t.equal([...text.matchAll(/<product /g)].length, count)
  t.match(text.slice(-40), /<\/catalogue>\n\r\n0\r\n\r\n$/, 'complete')
})

t.test('between any two batches others have their turn, however many read and however fast', async (t) => {
  const shop = await build(t, { products: {} })
  await fill(shop)
  const reading = watch(shop.store)
  let [turns, hasEnded] = [0, false]
  const count = () => {
    turns++
    if (!hasEnded) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all([get(shop), get(shop), get(shop)])
  hasEnded = true
  t.equal(reading.started, 3)
  // If the system stops the thread for longer than the scheduler's slice, two batches can share a turn.
  t.ok(turns >= 0.9 * reading.batches, `${turns} turns of the event loop in ${reading.batches} batches`)
})

t.test('when the client leaves, the reading ends', async (t) => {
  const shop = await build(t, { products: {} })
  await fill(shop)
  const reading = watch(shop.store)
  const socket = await ask(t, shop)
  const { ahead } = await downloadBeside(shop, reading)
  socket.destroy()
  while (reading.ended < 2) await turnOfTheLoop()
  t.ok(reading.batchesOfFirst <= ahead + 1, 'nothing more was read for nobody')
})
