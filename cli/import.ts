import type { ImportOutcome, Store } from '../domain/store.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { type Command, readArguments, UsageError, withStore } from './command.ts'
import { DryRun } from './import/dry-run.ts'
import { makeValidator, type Verdict } from './import/judge.ts'
import { makeProgress, type Progress } from './import/progress.ts'
import { type Format, formatOf, openSource, readEntries, type Source } from './import/source.ts'

/** How many products are judged and stored at once: the store's lock is held for some hundredths of a second at a time. */
const batchSize = 500

export const importCommand: Command = {
  name: 'import',
  synopsis: 'FILE [--format xml|csv|ndjson] [--dry-run]',
  about: 'read products from a file into the catalogue',
  help: `Creates each product of the file, or replaces the one that has its id; the others stay as they are. A product
that says what is there already is left unchanged. The service may run meanwhile.

  FILE           - is standard input, which needs --format
  --format F     by default by the extension: .xml, .csv, .ndjson or .jsonl
  --dry-run      only say what would be done, as the catalogue is now; nothing is stored

xml     <catalogue> of <product>, as GET /catalogue gives it (/schemas/catalogue.xsd)
ndjson  one product a line, as GET /product/ID gives it in JSON
csv     a heading with the columns id, name, price, and any of description, currency, unit, minimum-quantity,
        quantity-step, gtin, category, image, backorder, on-hand; a cell of category or image may hold several, divided by | (write \\| for a
        bar, \\\\ for a backslash), or the column may be there several times; an empty cell says nothing

A product without on-hand keeps its stock (0 for a new one). What is wrong is told with its line on standard
error and stops nothing else; then the exit status is 1.`,

  async run(args) {
    const { values, operands } = readArguments(args, { format: { type: 'string' }, 'dry-run': { type: 'boolean' } }, [1, 1])
    const [file = ''] = operands
    const format = formatOf(values.format, file)
    if (!format) throw new UsageError('--format is missing: the name of the file does not tell it')
    const rehearsing = values['dry-run'] ?? false
    const source = await openSource(file)
    try {
      return await withStore(async (store) => {
        const dryRun = rehearsing ? new DryRun(store) : undefined
        const counts = await new Import(dryRun ?? store, source).run(format)
        dryRun?.close()
        process.stdout.write(`${summarise(counts)}${rehearsing ? ' (a dry run: nothing was stored)' : ''}\n`)
        return counts.refused > 0 ? 1 : 0
      })
    } finally {
      await source.close()
    }
  }
}

type Counts = { created: number; replaced: number; unchanged: number; refused: number }

function summarise({ created, replaced, unchanged, refused }: Counts): string {
  const read = created + replaced + unchanged + refused
  return `${read} read: ${created} created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused`
}

class Import {
  readonly #target: Pick<Store, 'importProducts'>
  readonly #source: Source
  readonly #progress: Progress
  readonly #counts: Counts = { created: 0, replaced: 0, unchanged: 0, refused: 0 }
  #bytes = 0

  constructor(target: Pick<Store, 'importProducts'>, source: Source) {
    this.#target = target
    this.#source = source
    this.#progress = makeProgress(process.stderr, source.size)
  }

  /** @throws what ends it early, after saying how far it came */
  async run(format: Format): Promise<Counts> {
    const judge = makeValidator()
    // One batch is stored while the next is read and judged.
    let storing = Promise.resolve()
    try {
      for await (const entries of inBatches(readEntries(this.#counted(), format))) {
        const verdicts = judge(entries)
        await storing
        storing = this.#save(verdicts)
        // What it throws is thrown where it is awaited.
        storing.catch(() => undefined)
      }
      await storing
    } catch (error) {
      await storing.catch(() => undefined)
      const isBegun = Object.values(this.#counts).some((count) => count > 0)
      if (isBegun) this.#progress.print(`${this.#source.name}: ended early; ${summarise(this.#counts)} until then\n`)
      throw error
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

  async #save(verdicts: readonly Verdict[]): Promise<void> {
    const items = verdicts.flatMap((verdict) => ('item' in verdict ? verdict.item : []))
    const outcomes = items.length === 0 ? [] : await this.#target.importProducts(items)
    let next = 0
    for (const verdict of verdicts) {
      if ('item' in verdict) this.#count(verdict.line, verdict.item.id, outcomes[next++])
      else this.#refuse(verdict.line, verdict.faults)
    }
    const { created, replaced, unchanged, refused } = this.#counts
    this.#progress.show(this.#bytes, created + replaced + unchanged + refused)
  }

  #count(line: number, id: string, outcome: ImportOutcome | undefined): void {
    if (typeof outcome === 'string') this.#counts[outcome]++
    else this.#refuse(line, [{ detail: `${id}: ${outcome?.message ?? 'it was not stored'}` }])
  }

  #refuse(line: number, faults: readonly LocatedFault[]): void {
    this.#counts.refused++
    const lines = faults.map(
      (fault) => `${this.#source.name}:${fault.line ?? line}: ${fault.path ? `${fault.path}: ` : ''}${fault.detail}\n`
    )
    this.#progress.print(lines.join(''))
  }
}

async function* inBatches<T>(parts: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[], void, undefined> {
  let batch: T[] = []
  for await (const part of parts) {
    for (const one of part) {
      batch.push(one)
      if (batch.length < batchSize) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
