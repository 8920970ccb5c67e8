import { randomBytes } from 'node:crypto'
import { countLineFeeds } from '../schemas/line-feeds.ts'

/** The root element of documents that are joined. */
export const batchRoot = 'tradepost-batch'

const secret = randomBytes(12).toString('hex')

/**
 * The names of the elements around each document, and of the empty elements that fill the batch up to its size. No sender knows
 * these names. So if libxml2 finds as many of these elements as were written, each of them has exactly one document.
 */
export const batchMember = `document-${secret}`
export const batchFiller = `none-${secret}`

/** Several documents as one. */
export interface Batch {
  readonly xml: string
  /** The members and fillers: a power of two, so that a few schemas serve batches of all sizes. */
  readonly size: number
  /** The index of the document that a line belongs to; -1 if it belongs to none. */
  documentAt(line: number): number
}

/** The document without byte order mark and XML declaration. Only the start of a file can have them. */
function withoutDeclaration(source: string): string {
  const from = source.charCodeAt(0) === 0xfeff ? 1 : 0
  return /^<\?xml[ \t\r\n]$/.test(source.slice(from, from + 6)) ? source.slice(source.indexOf('?>', from) + 2) : source.slice(from)
}

/** Joins documents that the guard has passed. */
export function join(sources: readonly string[]): Batch {
  const documents = sources.map(withoutDeclaration)
  const size = 2 ** Math.ceil(Math.log2(documents.length))
  const members = documents.map((document) => `<${batchMember}>${document}</${batchMember}>\n`)
  const fillers = `<${batchFiller}/>`.repeat(size - documents.length)
  let ends: readonly number[] | undefined
  return {
    xml: `<${batchRoot}>${members.join('')}${fillers}</${batchRoot}>`,
    size,
    documentAt(line) {
      ends ??= lastLines(documents)
      return line > 0 ? ends.findIndex((end) => line <= end) : -1
    }
  }
}

/** The line of each document's end. Every document is followed by a line feed. */
function lastLines(documents: readonly string[]): readonly number[] {
  let last = 0
  return documents.map((document) => (last += countLineFeeds(document) + 1))
}
