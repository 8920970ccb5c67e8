import { tmpdir } from 'node:os'
import type { Decimal } from '../../domain/money.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { explain } from '../../stores/sqlite/explain.ts'
import { Failure } from '../command.ts'

/** The state of a product after the lines that were read so far. */
export interface TallyEntry {
  readonly id: string
  /** A digest of everything except the stock. */
  readonly digest: string
  readonly gtin: string | undefined
  /** Undefined when no line has set it. */
  readonly onHand: Decimal | undefined
}

interface Row {
  readonly id: string
  readonly digest: string
  readonly gtin: string | null
  readonly onHand: Decimal | null
}

/** The latest entry of each product, by id and by GTIN, in a temporary SQLite database that is deleted when it is closed. */
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

  find(id: string): TallyEntry | undefined {
    return read(this.#find.get(id))
  }

  /** The product whose latest entry has the GTIN. */
  holder(gtin: string): TallyEntry | undefined {
    return read(this.#holder.get(gtin))
  }

  enter({ id, digest, gtin, onHand }: TallyEntry): void {
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

function read(row: Row | undefined): TallyEntry | undefined {
  return row && { ...row, gtin: row.gtin ?? undefined, onHand: row.onHand ?? undefined }
}
