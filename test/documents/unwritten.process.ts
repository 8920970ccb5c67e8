import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { build, xml } from '../build.ts'
import { documentProcesses, skip } from './processes.ts'

t.test('an order whose answer cannot be written is placed, and answered without a body', { skip }, async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const order = (lines: number) => `<purchase-order>${item.repeat(lines)}</purchase-order>`
  const send = (payload: string) => app.inject({ method: 'POST', url: '/order', headers: xml, payload })
  // Those of earlier tests run on for a while.
  for (const pid of documentProcesses()) process.kill(pid, 'SIGKILL')
  while (documentProcesses().length > 0) await sleep(5)
  // A document that the service sends to a killed process before it notices is lost. So each is sent until its process runs.
  while ((await send(`${order(1_000)}?`)).statusCode !== 400);
  const reading = documentProcesses()
  while ((await send(order(1_000))).statusCode !== 201);
  const answering = documentProcesses().filter((pid) => !reading.includes(pid))
  t.equal(answering.length, 1)

  const before = (await store.orders({ limit: 10 })).items.length

  const { documents } = app
  const { write } = documents
  documents.write = (...given) => {
    const written = write.apply(documents, given)
    for (const pid of answering) process.kill(pid, 'SIGKILL')
    return written
  }
  const payload = order(5_000)
  const headers = { ...xml, prefer: 'return=representation', 'idempotency-key': '"7c0e8a4e-6f0d-4f1c-8d4e-0a6a0f3d9b51"' }
  const place = () => app.inject({ method: 'POST', url: '/order', headers, payload })
  const lost = await place()
  t.equal(lost.statusCode, 201)
  t.equal(lost.body, '')
  for (const name of ['content-type', 'content-location', 'preference-applied', 'retry-after']) t.notOk(name in lost.headers, name)
  const stored = (await store.orders({ limit: 10 })).items
  const [lostOrder] = stored.filter(({ itemCount }) => itemCount === 5_000)
  t.match(lostOrder, { status: 'accepted' })
  t.equal(lost.headers.location, `/order/${lostOrder?.id}`)
  t.equal(stored.length, before + 1)

  documents.write = write
  const again = await place()
  t.match(again, {
    statusCode: 201,
    headers: { 'idempotent-replayed': 'true', 'preference-applied': 'return=representation', location: `/order/${lostOrder?.id}` }
  })
  t.equal(again.body.match(/<item /g)?.length, 5_000)
  t.equal((await store.orders({ limit: 10 })).items.length, stored.length)
})
