/** Compares `tradepost import` of a large catalogue with plain inserts of the same rows into the same tables. See README.md. */

import { once } from 'node:events'
import { createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inBatches } from '../cli/import/batches.ts'
import { availabilityOf } from '../domain/product.ts'
import type { ImportItem } from '../domain/product-writes.ts'
import { Connection, connectWriter } from '../stores/sqlite/connection.ts'
import { migrateSqlite } from '../stores/sqlite/migrations.ts'
import { toThousandths } from '../stores/sqlite/rows.ts'
import { makeTextIndex } from '../stores/sqlite/search.ts'
import { compile } from '../test/cli/compile.ts'
import { catalogue, catalogueText } from './catalogue.ts'
import { commandLine, machine, newFolder, print, table } from './measure.ts'
import { megabytes, startProcess, succeeds } from './process.ts'

const { products: count, seed, directory } = commandLine({ products: 100_000 })
const folder = newFolder(directory)
const formats = ['xml', 'csv', 'ndjson'] as const

/** The number of products in one transaction of the plain insert. */
const batchSize = 10_000

interface Figure {
  readonly seconds: number
  readonly cpu: number
  readonly peak?: number
}

/**
 * Does the minimum of any import: it writes the rows and their indexes.
 * @param withWords whether it also writes the index of the full-text search
 */
async function plainInsert(path: string, withWords: boolean): Promise<Figure> {
  await migrateSqlite(path)
  const db = connectWriter(path)
  const index = makeTextIndex(db)
  const product = db.prepare(
    `INSERT INTO product (id, version, name, description, price, unit, gtin, categories, images, backorder, availability, modified_at)
      VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )
  const stock = db.prepare('INSERT INTO stock (product, version, on_hand, modified_at) VALUES (?, 1, ?, ?)')
  const category = db.prepare('INSERT INTO category (category, product) VALUES (?, ?)')
  const insert = db.transaction((items: readonly ImportItem[]) => {
    const now = Date.now()
    for (const { id, draft } of items) {
      const { name, description = null, price, unit, gtin = null, backorder, onHand } = draft
      const [categories, images] = [JSON.stringify(draft.categories), JSON.stringify(draft.images)]
      if (onHand === undefined) throw new Error('every generated product has stock')
      const row = [id, name, description, price, unit, gtin, categories, images, backorder ? 1 : 0, availabilityOf(onHand, backorder), now]
      const seq = Number(product.run(...row).lastInsertRowid)
      stock.run(seq, toThousandths(onHand), now)
      for (const one of draft.categories) category.run(one, id)
      if (withWords) index.write(seq, undefined, { id, ...draft })
    }
    index.flush()
  })
  let [milliseconds, cpu] = [0, 0]
  for await (const items of inBatches([catalogue(count, seed)], batchSize)) {
    const [before, used] = [performance.now(), process.cpuUsage()]
    insert(items)
    milliseconds += performance.now() - before
    const { user, system } = process.cpuUsage(used)
    cpu += (user + system) / 1e6
  }
  db.close()
  return { seconds: milliseconds / 1000, cpu }
}

async function importFile(service: string, file: string, path: string): Promise<Figure> {
  const before = performance.now()
  const running = startProcess(join(service, 'cli.js'), ['import', file], { DATABASE_URL: `sqlite:${path}` })
  running.child.stdout?.on('data', (summary) => process.stderr.write(summary))
  await succeeds(running)
  const seconds = (performance.now() - before) / 1000
  const db = new Connection(path, { readonly: true })
  const found = db.prepare('SELECT count(*) FROM product').pluck().get()
  db.close()
  if (found !== count) throw new Error(`${found} of ${count} products were imported`)
  return { seconds, cpu: running.cpu(), peak: running.peak() }
}

async function writeFile(format: (typeof formats)[number]): Promise<string> {
  const path = join(folder, `catalogue.${format}`)
  const file = createWriteStream(path)
  for (const part of catalogueText(catalogue(count, seed), format)) if (!file.write(part)) await once(file, 'drain')
  file.end()
  await once(file, 'close')
  return path
}

const remove = (path: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
}

async function measure(): Promise<string[]> {
  const service = await compile()
  const path = join(folder, 'shop.db')
  const rows: (readonly [string, Figure])[] = []
  const add = async (name: string, run: () => Promise<Figure>) => {
    rows.push([name, await run()])
    remove(path)
  }
  await add('rows alone', () => plainInsert(path, false))
  await add('rows and words', () => plainInsert(path, true))
  for (const format of formats) {
    const file = await writeFile(format)
    await add(`import of ${format}`, () => importFile(service, file, path))
    rmSync(file)
  }
  const baseline = rows[1]?.[1]
  const rate = ({ seconds }: Figure) => Math.round(count / seconds)
  return [
    machine(folder),
    `${count.toLocaleString('en')} products. "rows and words" is the baseline: prepared inserts, ${batchSize.toLocaleString('en')} products in a transaction, without parsing and validation.`,
    table(
      ['', 'products/s', 'of the baseline', 'CPU, s', 'peak memory'],
      rows.map(([name, figure]) => [
        name,
        rate(figure).toLocaleString('en'),
        baseline ? (baseline.seconds / figure.seconds).toFixed(2) : '',
        figure.cpu.toFixed(1),
        figure.peak === undefined ? '' : megabytes(figure.peak)
      ])
    )
  ]
}

try {
  print(...(await measure()))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
