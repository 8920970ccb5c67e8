import { temporaryDatabase, temporaryFailure } from './temporary-database.ts'

/** The lines of an import's products by their ids, in a temporary SQLite database. A million ids would take 80 MB of memory. */
export class ImportLines {
  readonly #db = temporaryDatabase('CREATE TABLE seen (id TEXT PRIMARY KEY, line INTEGER NOT NULL) STRICT, WITHOUT ROWID')
  readonly #enter = this.#db.prepare<[string, number]>('INSERT INTO seen VALUES (?, ?) ON CONFLICT DO NOTHING')
  readonly #find = this.#db.prepare<[string], number>('SELECT line FROM seen WHERE id = ?').pluck()

  /**
   * @returns the line on which the id was entered first, unless this is the first time
   * @throws DomainError `store-unavailable` if the temporary database cannot be written
   */
  enter(id: string, line: number): number | undefined {
    try {
      return this.#enter.run(id, line).changes === 1 ? undefined : this.#find.get(id)
    } catch (error) {
      throw temporaryFailure(error)
    }
  }

  close(): void {
    this.#db.close()
  }
}
