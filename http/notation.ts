import type { FastifyRequest } from 'fastify'
import type { Representation } from '../representations/representation.ts'

/** What a machine writes its documents in. A browser's form is none: a browser asks for its page by name. */
export type DocumentNotation = 'xml' | 'json'

/** The methods whose content is a document. Some clients send a Content-Type with every request, also where there is nothing to read. */
const carriers: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

const document = /^\s*(?:application|text)\/(?:[^;\s]+\+)?(xml|json)\s*(?:;|$)/i

/** The notation of the document that a request carries, as far as its header fields say. */
export function notationOf({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): DocumentNotation | undefined {
  if (!carriers.has(method)) return undefined
  const found = document.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase()
  return found === 'xml' || found === 'json' ? found : undefined
}

const suffixes: Readonly<Record<DocumentNotation, readonly string[]>> = { xml: ['xml', 'text'], json: ['json'] }

/** Whether an answer in this representation is in the notation of what was sent. */
export function isIn(notation: DocumentNotation | undefined, { suffix }: Pick<Representation<never>, 'suffix'>): boolean {
  return notation !== undefined && suffixes[notation].includes(suffix)
}
