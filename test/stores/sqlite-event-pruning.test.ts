import t from 'tap'
import { PositionError } from '../../domain/errors.ts'
import { everyone, mostPruned } from '../../domain/event.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { makeEventReader } from '../../stores/sqlite/event-reader.ts'
import { draft } from './fixtures.ts'
import { openStoreWithWriter } from './sqlite-with-writer.ts'

t.test('large events are deleted a few at a time, so that no other write waits for long', async (t) => {
  const { store, path } = await openStoreWithWriter(t)
  for (const id of ['a', 'b', 'c', 'd', 'e']) await store.createProduct(id, draft())
  const db = new Connection(path)
  t.teardown(() => db.close())
  db.prepare<[number]>('UPDATE event SET weight = ?').run(mostPruned / 2)
  const subjects = async () => (await store.eventHeads({ audience: everyone, limit: 10 })).map(({ subject }) => subject)
  const prune = () => store.pruneEvents(Date.now() + 3_600_000, 100)

  t.equal(await prune(), 2)
  t.same(await subjects(), ['c', 'd', 'e'])
  db.prepare<[number]>('UPDATE event SET weight = ?').run(2 * mostPruned)
  t.equal(await prune(), 1, 'one that is larger than that is deleted alone')
  t.equal(await prune(), 1)
  t.equal(await prune(), 0, 'the newest stays')
  t.same(await subjects(), ['e'])
})

t.test('events that are deleted while a page is read leave no gap in it: the cursor is refused', async (t) => {
  const { store, path } = await openStoreWithWriter(t)
  for (const id of ['a', 'b', 'c', 'd']) await store.createProduct(id, draft())
  const [first] = await store.eventHeads({ audience: everyone, limit: 1 })
  const db = new Connection(path)
  const other = new Connection(path)
  t.teardown(() => {
    for (const one of [db, other]) one.close()
  })
  const { eventHeads } = makeEventReader(db)
  const prepare = db.prepare.bind(db)
  // The page's statement is prepared when it is first needed, just before it is run.
  db.prepare = ((sql: string) => {
    other.exec('DELETE FROM event WHERE position < (SELECT max(position) FROM event)')
    return prepare(sql)
  }) as typeof db.prepare
  t.throws(() => eventHeads({ audience: everyone, limit: 10, after: first?.id ?? '' }), PositionError)
})
