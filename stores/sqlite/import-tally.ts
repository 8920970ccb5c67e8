import { tmpdir } from 'node:os'
import type { Decimal } from '../../domain/money.ts'
import { notStored } from '../outcomes.ts'
import { Connection } from './connection.ts'
import { explained } from './explain.ts'

/** The state of a product after the items that the dry run has decided so far. */
export interface TallyEntry {
  readonly id: string
  /** A digest of everything except the stock. */
  readonly digest: string
  readonly gtin: string | null
  /** Null when no item has set it. */
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
    this.#find = this.#db.prepare<[string], TallyEntry>('SELECT * FROM entered WHERE id = ?')
    this.#holder = this.#db.prepare<[string], TallyEntry>('SELECT * FROM entered WHERE gtin = ?')
    this.#enter = this.#db.prepare<[TallyEntry]>('INSERT OR REPLACE INTO entered VALUES (@id, @digest, @gtin, @onHand)')
  }

  find(id: string): TallyEntry | undefined {
    return this.#find.get(id)
  }

  /** The product whose latest entry has the GTIN. */
  holder(gtin: string): TallyEntry | undefined {
    return this.#holder.get(gtin)
  }

  /** @throws DomainError `store-unavailable` if the temporary database cannot be written */
  enter(entry: TallyEntry): void {
    try {
      this.#enter.run(entry)
    } catch (error) {
      throw notStored(explained(error, `the temporary file in ${tmpdir()}`))
    }
  }

  close(): void {
    this.#db.close()
  }
}
