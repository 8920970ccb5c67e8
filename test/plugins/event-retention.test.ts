import t from 'tap'
import { everyone } from '../../domain/event.ts'
import { build, draft } from '../build.ts'
import { until } from '../until.ts'

t.test('events are deleted when EVENTS_KEEP is over, all but the newest', async (t) => {
  const { app, store } = await build(t, { settings: { EVENTS_KEEP: '0.000001' } })
  await app.ready()
  for (const id of ['A-1', 'A-2', 'A-3']) await store.putProduct(id, draft(), {})
  const left = () => store.eventHeads({ audience: everyone, limit: 100 })
  const newest = await store.lastEvent()
  t.ok((await left()).length > 3)
  // The service looks for old events every ten seconds.
  await until(async () => (await left()).length <= 1, 'old events are deleted')
  t.same(await left(), [newest])
})

t.test('events are kept for as long as EVENTS_KEEP says, and it must be days', async (t) => {
  const { app, store } = await build(t, { settings: { EVENTS_KEEP: '0.5' } })
  const kept = new Promise<number>((resolve) => {
    store.pruneEvents = async (before) => {
      resolve(Date.now() - before)
      return 0
    }
  })
  await app.ready()
  const age = await kept
  t.ok(Math.abs(age - 12 * 3_600_000) < 60_000, `${age} ms`)
  for (const value of ['0', '-1', 'x', '1e3', '1000000'])
    await t.rejects(build(t, { settings: { EVENTS_KEEP: value } }), /EVENTS_KEEP/, value)
})
