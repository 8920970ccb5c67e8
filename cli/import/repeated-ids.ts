import { ImportLines } from '../../stores/sqlite/import-lines.ts'

/** Finds ids that come more than once in a file. */
export class RepeatedIds {
  #lines: ImportLines | undefined = new ImportLines()

  /** Enters a product. @returns a note for the operator if its id came before */
  enter(id: string, line: number): string | undefined {
    try {
      const first = this.#lines?.enter(id, line)
      return first === undefined ? undefined : `${id}: The same id is on line ${first}. The later line counts.`
    } catch (error) {
      // The products are imported all the same: these notes are no reason to end an import in its middle.
      this.close()
      const reason = error instanceof Error ? (error.cause ?? error.message) : error
      return `From here on, ids that come twice are not noticed: ${reason}`
    }
  }

  close(): void {
    this.#lines?.close()
    this.#lines = undefined
  }
}
