import { readdirSync } from 'node:fs'
import { StoreOpenError } from '../domain/errors.ts'

export interface Migrated {
  /** The schema version before and after. They are equal if no migration was needed. */
  readonly from: number
  readonly to: number
  /** The file names of the migrations that were run, in order. */
  readonly applied: readonly string[]
}

export interface Migration {
  readonly number: number
  readonly name: string
}

/** The migrations in a folder, in the order of their numbers. */
export function migrationsIn(folder: URL): Migration[] {
  const names = readdirSync(folder).filter((name) => /^\d{4}-.+\.sql$/.test(name))
  return names.sort().map((name) => ({ number: Number(name.slice(0, 4)), name }))
}

/** @throws StoreOpenError if the schema is from a later release */
export function refuseNewer(database: string, found: number, newest: number): void {
  if (found <= newest) return
  throw new StoreOpenError(
    `${database} has the schema ${found}, this Tradepost knows only up to ${newest}: run the newer one, or restore a backup`
  )
}
