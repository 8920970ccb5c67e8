import type { ImportOutcome } from '../domain/product-writes.ts'
import type { Store } from '../domain/store.ts'
import { piece } from '../domain/units.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { type Command, Failure, readArguments, withStore, withStoreForDryRun } from './command.ts'
import { inBatches } from './import/batches.ts'
import { makeProgress, type Progress } from './import/progress.ts'
import type { RepeatedIds } from './import/repeated-ids.ts'
import { type Format, formatOf, openSource, readEntries, type Source } from './import/source.ts'
import { makeValidator, type ValidatedEntry } from './import/validator.ts'

/** Products that are validated and stored together. The store's lock is held for some hundredths of a second per batch. */
const batchSize = 500

export const importCommand: Command = {
  name: 'import',
  synopsis: 'FILE [--format xml|csv|ndjson] [--dry-run]',
  about: 'read products from a file into the catalogue',
  help: `Creates each product of the file, or replaces the product that has its id. A product is replaced as a whole: what the
file leaves out is removed, and only its stock stays. To change prices alone, export, edit and import. Products that the
file does not have, or does not change, stay as they are. The service may run meanwhile.

  FILE           the file to read; - is standard input, which needs --format
  --format F     xml, csv or ndjson; by default the extension decides (.xml, .csv, .ndjson or .jsonl)
  --dry-run      only show what an import would do now; nothing is stored

xml     a <catalogue> of <product> elements, as from GET /catalogue (/schemas/catalogue.xsd)
ndjson  one product per line, as JSON from GET /product/ID
csv     a heading line with the columns id, name and price, and any of description, currency, unit, minimum-quantity,
        quantity-step, gtin, category, image, backorder and on-hand. A cell of category or image may hold several
        values, separated by | (write \\| for a bar and \\\\ for a backslash), or the column may occur several times.
        An empty cell has no value. The heading decides what separates all cells: a semicolon if it has one, a tab
        if it has one, and a comma otherwise

A product without on-hand keeps its stock (a new product has 0), and one without unit gets ${piece}. Products with errors
are refused: their errors are printed on standard error with their lines, the other products are imported, and the exit
status is 1. If an id comes more than once, the last line counts. Standard error names each such line, and the exit
status stays as it is.`,

  async run(args) {
    const { values, operands } = readArguments(args, { format: { type: 'string' }, 'dry-run': { type: 'boolean' } }, ['FILE'])
    const [file = ''] = operands
    const isDryRun = values['dry-run'] ?? false
    // A missing file is named first, whatever its extension.
    const source = await openSource(file)
    try {
      const format = formatOf(values.format, file)
      return await (isDryRun ? withStoreForDryRun : withStore)(async (store) => {
        const repeatedIds = await openRepeatedIds()
        const dryRun = isDryRun ? await openDryRun(store) : undefined
        try {
          const counts = await new Import(dryRun ?? store, source, repeatedIds).run(format)
          process.stdout.write(`${summarise(counts)}${isDryRun ? ' (a dry run: nothing was stored)' : ''}\n`)
          return counts.refused > 0 ? 1 : 0
        } finally {
          dryRun?.close()
          repeatedIds.close()
        }
      })
    } finally {
      await source.close()
    }
  }
}

/** Other commands on PostgreSQL do not load SQLite. */
async function openRepeatedIds() {
  const { RepeatedIds } = await import('./import/repeated-ids.ts')
  return new RepeatedIds()
}

/** Loads the dry run only when an import is one. */
async function openDryRun(store: Store) {
  const { ImportDryRun } = await import('./import/dry-run.ts')
  return new ImportDryRun(store)
}

type Counts = { created: number; replaced: number; unchanged: number; refused: number }

function summarise({ created, replaced, unchanged, refused }: Counts): string {
  const read = created + replaced + unchanged + refused
  return `${read} read: ${created} created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused`
}

class Import {
  readonly #target: Pick<Store, 'importProducts'>
  readonly #source: Source
  readonly #repeatedIds: RepeatedIds
  readonly #progress: Progress
  readonly #counts: Counts = { created: 0, replaced: 0, unchanged: 0, refused: 0 }
  #bytes = 0

  constructor(target: Pick<Store, 'importProducts'>, source: Source, repeatedIds: RepeatedIds) {
    this.#target = target
    this.#source = source
    this.#repeatedIds = repeatedIds
    this.#progress = makeProgress(process.stderr, source.size)
  }

  /** @throws the error that ends the import early, after printing the counts so far */
  async run(format: Format): Promise<Counts> {
    const validate = makeValidator()
    // One batch is stored while the next one is read and validated.
    let storing = Promise.resolve()
    try {
      for await (const entries of inBatches(readEntries(this.#counted(), format), batchSize)) {
        const results = validate(entries)
        await storing
        storing = this.#save(results)
        // The error is thrown where `storing` is awaited.
        storing.catch(() => undefined)
      }
      await storing
    } catch (error) {
      await storing.catch(() => undefined)
      const hasBegun = Object.values(this.#counts).some((count) => count > 0)
      if (hasBegun) this.#progress.print(`${this.#source.name}: ended early; ${summarise(this.#counts)} until then\n`)
      throw error instanceof Failure ? new Failure(`${this.#source.name}: ${error.message}`) : error
    } finally {
      this.#progress.end()
    }
    return this.#counts
  }

  async *#counted(): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of this.#source.bytes) {
      this.#bytes += chunk.length
      yield chunk
    }
  }

  async #save(results: readonly ValidatedEntry[]): Promise<void> {
    const items = results.flatMap((result) => ('item' in result ? result.item : []))
    const outcomes = items.length === 0 ? [] : await this.#target.importProducts(items)
    let next = 0
    for (const result of results) {
      if ('item' in result) this.#count(result.line, result.item.id, outcomes[next++])
      else this.#refuse(result.line, result.faults)
    }
    const { created, replaced, unchanged, refused } = this.#counts
    this.#progress.show(this.#bytes, created + replaced + unchanged + refused)
  }

  #count(line: number, id: string, outcome: ImportOutcome | undefined): void {
    if (typeof outcome !== 'string') {
      this.#refuse(line, [{ detail: `${id}: ${outcome?.message ?? 'it was not stored'}` }])
      return
    }
    this.#counts[outcome]++
    const note = this.#repeatedIds.enter(id, line)
    if (note !== undefined) this.#print(line, { detail: note })
  }

  #refuse(line: number, faults: readonly LocatedFault[]): void {
    this.#counts.refused++
    this.#print(line, ...faults)
  }

  #print(line: number, ...faults: readonly LocatedFault[]): void {
    const lines = faults.map(
      (fault) => `${this.#source.name}:${fault.line ?? line}: ${fault.path ? `${fault.path}: ` : ''}${fault.detail}\n`
    )
    this.#progress.print(lines.join(''))
  }
}
