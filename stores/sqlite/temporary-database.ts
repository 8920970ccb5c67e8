import { tmpdir } from 'node:os'
import type { DomainError } from '../../domain/errors.ts'
import { notStored } from '../outcomes.ts'
import { Connection } from './connection.ts'
import { explained } from './explain.ts'

/** Makes a database that is deleted when it is closed. It is in memory, and beyond the size of the page cache in the folder for temporary files. */
export function temporaryDatabase(schema: string): Connection {
  const db = new Connection('')
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384; ${schema}; BEGIN`)
  return db
}

/** The error of a write to a temporary database. */
export function temporaryFailure(error: unknown): DomainError {
  return notStored(explained(error, `the temporary file in ${tmpdir()}`))
}
