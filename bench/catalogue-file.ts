import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inBatches } from '../cli/import/batches.ts'
import { catalogue } from './catalogue.ts'
import { openFile } from './shop.ts'

/** The number of items in one transaction. */
const batchSize = 1_000
/** The number of batches that are sent to the store at once. */
const parallel = 4

/**
 * Makes a database with a generated catalogue, or finds the one of an earlier run.
 * @returns the path of the database. Its name has everything that determines the content
 */
export async function catalogueFile(directory: string, count: number, seed: number): Promise<string> {
  const name = `tradepost-bench-${count}-products-${seed}-`
  const path = join(directory, `${name}${digest()}.db`)
  if (existsSync(path)) return path
  for (const outdated of readdirSync(directory).filter((other) => other.startsWith(name))) rmSync(join(directory, outdated))
  process.stderr.write(`making ${path}, which the next run will use again\n`)
  const partial = `${path}.partial`
  const store = await openFile(partial)
  const pending: Promise<unknown>[] = []
  for await (const items of inBatches([catalogue(count, seed)], batchSize)) {
    pending.push(store.importProducts(items))
    if (pending.length === parallel) await pending.shift()
  }
  await Promise.all(pending)
  await store.close()
  renameSync(partial, path)
  return path
}

/** A digest of everything that determines the content of the file: the generator and the schema. */
function digest(): string {
  const folder = new URL('../stores/sqlite/migrations/', import.meta.url)
  const files = [new URL('./catalogue.ts', import.meta.url), ...readdirSync(folder).map((name) => new URL(name, folder))]
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 8)
}
