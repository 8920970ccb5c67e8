import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ImportItem } from '../domain/store.ts'
import { catalogue } from './catalogue.ts'
import { openFile } from './shop.ts'

/** Items of one transaction, and how many of those are on their way at once. */
const batch = 1_000
const ahead = 4

/**
 * A database with a generated catalogue, made once and kept for the next run.
 * @returns its path, which names all that it depends on
 */
export async function catalogueFile(directory: string, count: number, seed: number): Promise<string> {
  const name = `tradepost-bench-${count}-products-${seed}-`
  const path = join(directory, `${name}${digest()}.db`)
  if (existsSync(path)) return path
  for (const outdated of readdirSync(directory).filter((other) => other.startsWith(name))) rmSync(join(directory, outdated))
  process.stderr.write(`making ${path}, which the next run will find\n`)
  const partial = `${path}.partial`
  const store = await openFile(partial)
  const under: Promise<unknown>[] = []
  for (const items of batches(catalogue(count, seed))) {
    under.push(store.importProducts(items))
    if (under.length === ahead) await under.shift()
  }
  await Promise.all(under)
  await store.close()
  renameSync(partial, path)
  return path
}

function* batches(items: Iterable<ImportItem>): Generator<ImportItem[]> {
  let full: ImportItem[] = []
  for (const item of items) {
    full.push(item)
    if (full.length < batch) continue
    yield full
    full = []
  }
  if (full.length > 0) yield full
}

/** Of what makes the file what it is: the generator and the schema. */
function digest(): string {
  const folder = new URL('../stores/sqlite/migrations/', import.meta.url)
  const files = [new URL('./catalogue.ts', import.meta.url), ...readdirSync(folder).map((name) => new URL(name, folder))]
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 8)
}
