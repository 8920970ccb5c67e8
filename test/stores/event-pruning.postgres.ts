import pg from 'pg'
import t from 'tap'
import { PositionError } from '../../domain/errors.ts'
import { everyone, mostPruned } from '../../domain/event.ts'
import { Database } from '../../stores/postgres/database.ts'
import { makeEvents } from '../../stores/postgres/events.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import { execute, postgresFor } from './embedded.ts'
import { draft, shopCurrency } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'

const server = await postgresFor(t)
const later = Date.now() + 3_600_000

t.test('a row that another transaction has locked is not waited for: it stays, and so do all after it', async (t) => {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.teardown(() => Promise.all([store.close(), other.end()]))
  for (const id of ['a', 'b', 'c', 'd', 'e']) await store.createProduct(id, draft())
  const subjects = async () => (await store.eventHeads({ audience: everyone, limit: 10 })).map(({ subject }) => subject)

  await other.query("BEGIN; SELECT position FROM event WHERE subject = 'c' FOR UPDATE")
  // A statement that waits for the lock fails by its own timeout.
  t.equal(await store.pruneEvents(later, 100), 2)
  t.same(await subjects(), ['c', 'd', 'e'])
  t.equal(await store.pruneEvents(later, 100), 0, 'the locked row is the oldest now')
  await other.query('ROLLBACK')
  t.equal(await store.pruneEvents(later, 100), 2)
  t.same(await subjects(), ['e'])
})

t.test('large events are deleted a few at a time', async (t) => {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  t.teardown(() => store.close())
  for (const id of ['a', 'b', 'c', 'd', 'e']) await store.createProduct(id, draft())
  await execute(url, `UPDATE event SET weight = ${mostPruned / 2}`)
  t.equal(await store.pruneEvents(later, 100), 2)
  await execute(url, `UPDATE event SET weight = ${2 * mostPruned}`)
  t.equal(await store.pruneEvents(later, 100), 1, 'one that is larger than that is deleted alone')
})

/** Deletes all events but the newest just before a page of events is read. */
class Pruning extends Database {
  #isPruned = false

  override async query<Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    if (!this.#isPruned) {
      this.#isPruned = true
      await makeEvents(this).pruneEvents(later, 100)
    }
    return super.query<Row>(text, values)
  }
}

t.test('events that are deleted while a page is read leave no gap in it: the cursor is refused', async (t) => {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const database = new Pruning(url, 2)
  t.teardown(() => Promise.all([store.close(), database.close()]))
  for (const id of ['a', 'b', 'c', 'd']) await store.createProduct(id, draft())
  const [first] = await store.eventHeads({ audience: everyone, limit: 1 })
  await t.rejects(makeEvents(database).eventHeads({ audience: everyone, limit: 10, after: first?.id ?? '' }), PositionError)
})
