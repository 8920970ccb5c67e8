import { type ColumnName, columnNames, isColumnName, isRepeatable, readCsvRecord } from '../../schemas/csv.ts'
import { type Cell, endOfRecord, readRecord } from '../../schemas/csv-record.ts'
import { countLineFeeds } from '../../schemas/line-feeds.ts'
import { productXsd } from '../../schemas/product.ts'
import { rootType } from '../../schemas/vocabulary.ts'
import { Failure } from '../command.ts'
import { type Entry, maxEntryLength, readEntry, unreadable } from './entry.ts'

const type = rootType(productXsd, 'product')

/** Every product needs them. */
const neededColumns = ['id', 'name', 'price'] as const

const notDoubled = 'A cell with a quote must be in quotes, and the quote must be doubled, as in "3.5"" disk".'
const neverClosed =
  'A cell begins with a quote that is never closed: add the quote at its end, and double each quote within it, as in "3.5"" disk".'

/** The most entries that are yielded together. After a malformed line, the buffer may hold a hundred thousand more entries. */
const maxEntries = 500

/**
 * Reads products from CSV with a heading line. Cells are separated by semicolons or tabs if the heading has one of them,
 * and by commas otherwise.
 * @throws Failure when the heading is missing, has an unknown column or lacks one that each product needs
 */
export async function* csvEntries(chunks: AsyncIterable<string>): AsyncGenerator<readonly Entry[], void, undefined> {
  const splitter = new Splitter()
  for await (const chunk of chunks) yield* splitter.write(chunk)
  yield* splitter.end()
}

class Splitter {
  #text = ''
  /** The line number of the start of the text. */
  #line = 1
  #columns: readonly ColumnName[] | undefined
  #delimiter = ','

  write(chunk: string): Iterable<readonly Entry[]> {
    this.#text += chunk
    return this.#take(false)
  }

  *end(): Iterable<readonly Entry[]> {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#text += '\n'
    yield* this.#take(true)
    if (!this.#columns) throw new Failure('the file has no heading line with the names of the columns')
  }

  *#take(isLast: boolean): Iterable<readonly Entry[]> {
    let entries: Entry[] = []
    let from = 0
    let quote = -1
    while (from < this.#text.length) {
      if (entries.length >= maxEntries) {
        yield entries
        entries = []
      }
      // The next quote may be megabytes away, so it is not searched for again at every line.
      if (quote < from) quote = nextQuote(this.#text, from)
      const lineEnd = this.#text.indexOf('\n', from)
      const end = quote < lineEnd ? endOfRecord(this.#text, from) : lineEnd
      if (end < 0 && !isLast && this.#text.length - from < maxEntryLength) break
      const next = end < 0 ? undefined : this.#readLine(this.#text.slice(from, end).replace(/\r$/, ''))
      if (next) {
        entries.push(...next)
        this.#line += countLineFeeds(this.#text, from, end) + 1
        from = end + 1
        continue
      }
      // Only the first line is skipped: a misplaced quote must not affect the lines after it.
      const isOpen = end < 0 && /(^|[,;\t])"/.test(this.#text.slice(from, lineEnd))
      entries.push(unreadable(this.#line, isOpen ? neverClosed : notDoubled))
      from = this.#text.indexOf('\n', from) + 1
      this.#line++
      if (from === 0) from = this.#text.length
    }
    this.#text = this.#text.slice(from)
    yield entries
  }

  /** @returns undefined when the record is malformed */
  #readLine(record: string): readonly Entry[] | undefined {
    if (!this.#columns) {
      this.#delimiter = [';', '\t'].find((one) => record.includes(one)) ?? ','
      this.#columns = readHeading(readRecord(record, this.#delimiter) ?? [])
      return []
    }
    const cells = readRecord(record, this.#delimiter)
    if (cells?.every((cell) => cell === undefined)) return []
    return cells && [toEntry(this.#columns, cells, this.#line)]
  }
}

function nextQuote(text: string, from: number): number {
  const at = text.indexOf('"', from)
  return at < 0 ? text.length : at
}

function readHeading(cells: readonly Cell[]): readonly ColumnName[] {
  const seen = new Set<string>()
  const columns = cells.map((cell = '') => {
    const name = cell.trim().toLowerCase()
    if (!isColumnName(name)) throw new Failure(`line 1: there is no column ${JSON.stringify(name)}: use ${columnNames.join(', ')}`)
    if (seen.has(name) && !isRepeatable(name)) throw new Failure(`line 1: the column ${name} occurs twice`)
    seen.add(name)
    return name
  })
  const missing = neededColumns.filter((name) => !seen.has(name))
  if (missing.length > 0)
    throw new Failure(`line 1: the heading has no column ${missing.join(' and no column ')}, which every product needs`)
  return columns
}

function toEntry(columns: readonly ColumnName[], cells: readonly Cell[], line: number): Entry {
  if (cells.length > columns.length) {
    return unreadable(
      line,
      `The line has ${cells.length} cells, but there are ${columns.length} columns. A cell that has a comma must be in quotes.`
    )
  }
  const missing = neededColumns.filter((name) => cells[columns.indexOf(name)] === undefined)
  if (missing.length > 0) return unreadable(line, `The row has no ${missing.join(' and no ')}.`)
  return { ...readEntry(line, readCsvRecord(columns, cells, type)), isRow: true }
}
