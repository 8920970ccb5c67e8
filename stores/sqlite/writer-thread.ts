/** The entry of the writer's thread: one database at a time, opened and closed by message. It answers a batch only after its commit. */

import { parentPort } from 'node:worker_threads'
import { makeBatch } from './batch.ts'
import { type Connection, checkFile, connectWriter } from './connection.ts'
import type { Outcome } from './failures.ts'
import type { Command } from './writes.ts'

export interface WriterData {
  readonly path: string
  /** As `fileIdentity` gave it when the store was opened. */
  readonly identity: string
  readonly currency: string
  /** The most pages that the file may have; for tests of a full disk. */
  readonly maxPages?: number
  /** The most commands of one transaction: 1 is the baseline of the bench, for what sharing a commit is worth. */
  readonly maxBatch?: number
}

export type ToWriter = { readonly open: WriterData } | { readonly batch: readonly Command[] } | 'close'
export type FromWriter = 'opened' | { readonly outcomes: readonly Outcome[] } | 'closed'

interface Open {
  readonly db: Connection
  readonly run: (commands: readonly Command[]) => Outcome[]
}

function open({ path, identity, currency, maxPages, maxBatch }: WriterData): Open {
  checkFile(path, identity)
  const db = connectWriter(path)
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`)
  const run = makeBatch(db, currency, () => checkFile(path, identity))
  return { db, run: maxBatch === undefined ? run : (commands) => slices(commands, maxBatch).flatMap(run) }
}

function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))
}

let current: Open | undefined

function act(message: ToWriter): FromWriter {
  if (message === 'close') {
    current?.db.close()
    current = undefined
    return 'closed'
  }
  if ('open' in message) {
    current = open(message.open)
    return 'opened'
  }
  if (!current) throw new Error('a batch came before its database')
  return { outcomes: current.run(message.batch) }
}

// What is thrown here ends the thread, and the other side starts another.
parentPort?.on('message', (message: ToWriter) => parentPort?.postMessage(act(message)))
