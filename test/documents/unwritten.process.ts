import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { build, xml } from '../build.ts'

/** The document processes of this process, as proc(5) tells them. */
function documentProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/documents/process.')
      } catch {
        return false
      }
    })
}

const skip = process.platform === 'linux' ? false : 'this system does not tell which processes another has started'

t.test('an order whose answer cannot be written is stored, and the 503 says so', { skip }, async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': { onHand: '1000000' as never } } })
  const { documents } = app
  const { write } = documents
  documents.write = (...given) => {
    const written = write.apply(documents, given)
    for (const pid of documentProcesses()) process.kill(pid, 'SIGKILL')
    return written
  }
  const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  const payload = `<purchase-order>${item.repeat(5_000)}</purchase-order>`
  const headers = { ...xml, 'idempotency-key': '"7c0e8a4e-6f0d-4f1c-8d4e-0a6a0f3d9b51"' }
  const place = () => app.inject({ method: 'POST', url: '/order', headers, payload })
  const lost = await place()
  t.equal(lost.statusCode, 503)
  t.equal(lost.headers['retry-after'], '5')
  t.match(lost.body, 'The request was carried out, but the answer cannot be written now. Read the resource again in a few seconds.')
  t.notMatch(lost.body, 'Nothing was stored')
  const { items } = await store.orders({ limit: 10 })
  t.match(items, [{ status: 'accepted', itemCount: 5_000 }])

  documents.write = write
  const again = await place()
  t.match(again, { statusCode: 201, headers: { 'idempotent-replayed': 'true', location: `/order/${items[0]?.id}` } })
  t.equal(again.body.match(/<item /g)?.length, 5_000)
  t.equal((await store.orders({ limit: 10 })).items.length, 1)
})
