import type { IncomingHttpHeaders } from 'node:http'
import type { Representation } from '../representations/representation.ts'

/** The notations of documents that programs send. HTML forms do not count: browsers name HTML in Accept. */
export type DocumentNotation = 'xml' | 'json'

/** The methods with a document as content. Some clients send a Content-Type with every request, even without content. */
const methodsWithContent: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const document = /^\s*(?:application|text)\/(?:[^;\s]+\+)?(xml|json)\s*(?:;|$)/i

/** The notation of the request's document, according to its Content-Type. */
export function notationOf({ method, headers }: { method: string; headers: IncomingHttpHeaders }): DocumentNotation | undefined {
  if (!methodsWithContent.has(method)) return undefined
  const found = document.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase()
  return found === 'xml' || found === 'json' ? found : undefined
}

const suffixes: Readonly<Record<DocumentNotation, readonly string[]>> = { xml: ['xml', 'text'], json: ['json'] }

/** Whether a representation is in the given notation. */
export function isIn(notation: DocumentNotation | undefined, { suffix }: Pick<Representation<never>, 'suffix'>): boolean {
  return notation !== undefined && suffixes[notation].includes(suffix)
}
