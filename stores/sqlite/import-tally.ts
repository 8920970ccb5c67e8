import type { Decimal } from '../../domain/money.ts'
import { gtin14 } from '../../domain/product.ts'
import { temporaryDatabase, temporaryFailure } from './temporary-database.ts'

/** The state of a product after the items that the dry run has decided so far. */
export interface TallyEntry {
  readonly id: string
  /** A digest of everything except the stock. */
  readonly digest: string
  readonly gtin: string | null
  /** Null when no item has set it. */
  readonly onHand: Decimal | null
}

const entries = 'SELECT id, digest, gtin, onHand FROM entered'

/** The latest entry of each product, by id and by GTIN, in a temporary SQLite database. */
export class ImportTally {
  readonly #db = temporaryDatabase(`
    CREATE TABLE entered (id TEXT PRIMARY KEY, digest TEXT NOT NULL, gtin TEXT, gtin14 TEXT, onHand TEXT) STRICT, WITHOUT ROWID;
    CREATE INDEX entered_gtin14 ON entered (gtin14) WHERE gtin14 IS NOT NULL`)
  readonly #find
  readonly #holder
  readonly #enter

  constructor() {
    this.#find = this.#db.prepare<[string], TallyEntry>(`${entries} WHERE id = ?`)
    this.#holder = this.#db.prepare<[string], TallyEntry>(`${entries} WHERE gtin14 = ?`)
    this.#enter = this.#db.prepare<[TallyEntry & { readonly gtin14: string | null }]>(
      'INSERT OR REPLACE INTO entered VALUES (@id, @digest, @gtin, @gtin14, @onHand)'
    )
  }

  find(id: string): TallyEntry | undefined {
    return this.#find.get(id)
  }

  /** The product whose latest entry has the GTIN, whatever its length. */
  holder(gtin: string): TallyEntry | undefined {
    return this.#holder.get(gtin14(gtin))
  }

  /** @throws DomainError `store-unavailable` if the temporary database cannot be written */
  enter(entry: TallyEntry): void {
    try {
      this.#enter.run({ ...entry, gtin14: entry.gtin === null ? null : gtin14(entry.gtin) })
    } catch (error) {
      throw temporaryFailure(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}
