import { tmpdir } from 'node:os'
import type { Decimal } from '../../domain/money.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { explain } from '../../stores/sqlite/explain.ts'
import { Failure } from '../command.ts'

/** What a product is made by the lines of a file so far. */
export interface Entered {
  readonly id: string
  /** Of all that a line says but the stock. */
  readonly digest: string
  readonly gtin: string | undefined
  /** Absent: no line has set it. */
  readonly onHand: Decimal | undefined
}

interface Row {
  readonly id: string
  readonly digest: string
  readonly gtin: string | null
  readonly onHand: Decimal | null
}

/** Products by id and by GTIN, the last entry of each: in a database of SQLite's own that is nobody else's and goes when it is closed. */
export class ImportTally {
  readonly #db = new Connection('')
  readonly #find
  readonly #holder
  readonly #enter

  constructor() {
    this.#db.exec(`
      PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF;
      CREATE TABLE entered (id TEXT PRIMARY KEY, digest TEXT NOT NULL, gtin TEXT, onHand TEXT) STRICT, WITHOUT ROWID;
      CREATE INDEX entered_gtin ON entered (gtin) WHERE gtin IS NOT NULL;
      BEGIN`)
    this.#find = this.#db.prepare<[string], Row>('SELECT * FROM entered WHERE id = ?')
    this.#holder = this.#db.prepare<[string], Row>('SELECT * FROM entered WHERE gtin = ?')
    this.#enter = this.#db.prepare<[Row]>('INSERT OR REPLACE INTO entered VALUES (@id, @digest, @gtin, @onHand)')
  }

  find(id: string): Entered | undefined {
    return read(this.#find.get(id))
  }

  /** The product whose last entry has the GTIN. */
  holder(gtin: string): Entered | undefined {
    return read(this.#holder.get(gtin))
  }

  enter({ id, digest, gtin, onHand }: Entered): void {
    try {
      this.#enter.run({ id, digest, gtin: gtin ?? null, onHand: onHand ?? null })
    } catch (error) {
      throw new Failure(explain(error, `the temporary file in ${tmpdir()}`) ?? String(error))
    }
  }

  close(): void {
    this.#db.close()
  }
}

function read(row: Row | undefined): Entered | undefined {
  return row && { ...row, gtin: row.gtin ?? undefined, onHand: row.onHand ?? undefined }
}
