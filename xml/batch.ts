import { randomBytes } from 'node:crypto'
import { countLineFeeds } from '../schemas/line-feeds.ts'

/** The root element of documents that are joined. */
export const batchRoot = 'tradepost-batch'

/**
 * The element around each of the documents. No sender knows its name. So when libxml2 finds as many of them as were written,
 * each has one document as its content, whatever is in it.
 */
export const batchMember = `document-${randomBytes(12).toString('hex')}`

/** Several documents as one. */
export interface Batch {
  readonly xml: string
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
  const members = documents.map((document) => `<${batchMember}>${document}</${batchMember}>\n`)
  return {
    xml: `<${batchRoot}>${members.join('')}</${batchRoot}>`,
    documentAt(line) {
      let end = 0
      return documents.findIndex((document) => {
        end += countLineFeeds(document) + 1
        return line <= end
      })
    }
  }
}
