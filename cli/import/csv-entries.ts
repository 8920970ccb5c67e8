import { type ColumnName, columnNames, isColumnName, isRepeatable, readCsvRecord } from '../../schemas/csv.ts'
import { type Cell, endOfRecord, readRecord } from '../../schemas/csv-record.ts'
import { countLineFeeds } from '../../schemas/line-feeds.ts'
import { productXsd } from '../../schemas/product.ts'
import { rootType } from '../../schemas/vocabulary.ts'
import { Failure } from '../command.ts'
import { type Entry, lineTooLong, maxEntryLength, readEntry, unreadable } from './entry.ts'

const type = rootType(productXsd, 'product')

/** The signs that can separate cells, with their names. A file uses the first of them that its heading has. */
const delimiters: Readonly<Record<string, string>> = { ';': 'a semicolon', '\t': 'a tab', ',': 'a comma' }

const cellStartsWithQuote = new RegExp(`(^|[${Object.keys(delimiters).join('')}])"`)

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
  /** Whether the start of the current line was dropped. */
  #isTooLong = false
  #columns: readonly ColumnName[] | undefined
  #delimiter = ','

  /** Drops a line whose start alone is too long, up to its end. @returns its error, once it has ended */
  #dropLongLine(): readonly Entry[] {
    const lineEnd = this.#text.indexOf('\n')
    const wasTooLong = this.#isTooLong
    this.#isTooLong = lineEnd < 0 && (wasTooLong || this.#text.length > maxEntryLength)
    if (wasTooLong || this.#isTooLong) this.#text = lineEnd < 0 ? '' : this.#text.slice(lineEnd + 1)
    return wasTooLong && !this.#isTooLong ? [unreadable(this.#line++, lineTooLong)] : []
  }

  *write(chunk: string): Iterable<readonly Entry[]> {
    this.#text += chunk
    yield this.#dropLongLine()
    yield* this.#take(false)
  }

  *end(): Iterable<readonly Entry[]> {
    if (this.#isTooLong || (this.#text !== '' && !this.#text.endsWith('\n'))) this.#text += '\n'
    yield this.#dropLongLine()
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
      const lineEnd = this.#text.indexOf('\n', from)
      // The next quote may be megabytes away, so it is not searched for again at every line.
      if (quote < from) quote = nextQuote(this.#text, from)
      const end = quote < lineEnd ? endOfRecord(this.#text, from) : lineEnd
      if (end < 0 && !isLast && (lineEnd < 0 || this.#text.length - from <= maxEntryLength)) break
      const next = end < 0 ? undefined : this.#readLine(this.#text.slice(from, end).replace(/\r$/, ''))
      if (next) {
        entries.push(...next)
        this.#line += countLineFeeds(this.#text, from, end) + 1
        from = end + 1
        continue
      }
      // Only the first line is skipped: a misplaced quote must not affect the lines after it.
      const isOpen = end < 0 && cellStartsWithQuote.test(this.#text.slice(from, lineEnd))
      entries.push(unreadable(this.#line, isOpen ? neverClosed : notDoubled))
      from = lineEnd + 1
      this.#line++
    }
    this.#text = this.#text.slice(from)
    yield entries
  }

  /** @returns undefined when the record is malformed */
  #readLine(record: string): readonly Entry[] | undefined {
    if (!this.#columns) {
      this.#delimiter = Object.keys(delimiters).find((one) => record.includes(one)) ?? ','
      this.#columns = readHeading(readRecord(record, this.#delimiter) ?? [])
      return []
    }
    const cells = readRecord(record, this.#delimiter)
    if (cells?.every((cell) => cell === undefined)) return []
    return cells && [this.#toEntry(this.#columns, cells)]
  }

  #toEntry(columns: readonly ColumnName[], cells: readonly Cell[]): Entry {
    if (cells.length > columns.length) {
      const detail = `The line has ${cells.length} cells, but there are ${columns.length} columns. A cell that has ${delimiters[this.#delimiter]} must be in quotes.`
      return unreadable(this.#line, detail)
    }
    const missing = neededColumns.filter((name) => cells[columns.indexOf(name)] === undefined)
    if (missing.length > 0) return unreadable(this.#line, `The row has no ${missing.join(' and no ')}.`)
    return { ...readEntry(this.#line, readCsvRecord(columns, cells, type)), isRow: true }
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
