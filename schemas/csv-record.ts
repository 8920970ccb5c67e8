/** Records of comma-separated values (RFC 4180). */

/** An empty cell is undefined: it has no value. An empty text is written in quotes. */
export type Cell = string | undefined

/** The offset of the line end that ends a record; -1 when there is none outside of quotes. */
export function endOfRecord(text: string, from: number): number {
  let end = text.indexOf('\n', from)
  let quote = text.indexOf('"', from)
  while (end >= 0 && quote >= 0 && quote < end) {
    // A doubled quote is a closing quote and an opening one, so it needs no case of its own.
    const closing = text.indexOf('"', quote + 1)
    if (closing < 0) return -1
    if (closing > end) end = text.indexOf('\n', closing)
    quote = text.indexOf('"', closing + 1)
  }
  return end
}

/**
 * @param record without its line end
 * @returns undefined when a quote is misplaced, so that the cells cannot be told apart
 */
export function readRecord(record: string, delimiter: string): readonly Cell[] | undefined {
  const cells: Cell[] = []
  for (let at = 0; ; at++) {
    if (record[at] === '"') {
      const end = closingQuote(record, at)
      if (end < 0) return undefined
      cells.push(record.slice(at + 1, end).replaceAll('""', '"'))
      at = end + 1
    } else {
      const next = record.indexOf(delimiter, at)
      const cell = record.slice(at, next < 0 ? undefined : next)
      if (cell.includes('"')) return undefined
      cells.push(cell || undefined)
      at += cell.length
    }
    if (at >= record.length) return cells
    if (record[at] !== delimiter) return undefined
  }
}

function closingQuote(record: string, opening: number): number {
  for (let at = record.indexOf('"', opening + 1); ; at = record.indexOf('"', at + 2)) {
    if (at < 0 || record[at + 1] !== '"') return at
  }
}

/** Writes a record with its line end. */
export function writeRecord(cells: readonly Cell[]): string {
  return `${cells.map((cell) => (cell === undefined ? '' : writeCell(cell))).join(',')}\r\n`
}

function writeCell(cell: string): string {
  return cell === '' || /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
