import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DocumentQueue } from '../documents/document-queue.ts'
import { niceness } from '../priority.ts'
import { openSqliteStore } from '../stores/sqlite/store.ts'

/** The niceness of each thread of this process (proc(5), /proc/PID/task/TID/stat, field 19). */
function threads(): readonly number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  })
}

const lowered = (by: number) => Math.min(getPriority() + by, 19)

t.test('the threads of a store yield to the serving thread', { skip: process.platform !== 'linux' && 'only Linux' }, async (t) => {
  const own = getPriority()
  const store = await openSqliteStore({ path: join(t.testdir(), 'shop.db'), currency: 'EUR' })
  t.teardown(() => store.close())
  t.ok(threads().includes(lowered(niceness.helper)), `${threads()}`)
  t.equal(getPriority(), own, 'the serving thread keeps its own')
})

t.test('a document process yields to the serving thread', async (t) => {
  const queue = new DocumentQueue({ budget: 5_000, niceness: niceness.largeDocuments, window: { jobs: 1, bytes: 1 }, warn: () => {} })
  t.teardown(() => queue.kill())
  await queue.start()
  t.equal(getPriority(queue.pid), lowered(niceness.largeDocuments))
})
