import { type ProblemDocument, problemRepresentations } from '../representations/problem.ts'
import type { Representation } from '../representations/representation.ts'
import { choose } from './accept.ts'
import { type DocumentNotation, isIn } from './notation.ts'

/** A client that asks for plain XML or JSON, or for lines of JSON, gets the problem in it. */
const alsoAskedAs: Readonly<Record<string, readonly string[]>> = {
  'application/problem+xml': ['application/xml', 'text/xml'],
  'application/problem+json': ['application/json', 'application/x-ndjson']
}

/**
 * The media type that Accept asks for. If it names none of the three: the media type of the document that was sent, or XML.
 * @param mayBePage a document in a buyer's vocabulary is never answered with a page
 */
export function problemRepresentation(
  accept: string | undefined,
  notation: DocumentNotation | undefined,
  mayBePage: boolean
): Representation<ProblemDocument> {
  const offered = mayBePage ? problemRepresentations : problemRepresentations.filter(({ suffix }) => suffix !== 'html')
  const offers = offered.map((offer) => ({
    names: [offer.mediaType, ...(alsoAskedAs[offer.mediaType] ?? [])],
    own: isIn(notation, offer)
  }))
  const chosen = choose(accept, offers)
  const ofOwn = offers.findIndex(({ own }) => own)
  const representation = offered[Math.max(0, chosen === -1 ? ofOwn : chosen)]
  if (!representation) throw new Error('there is no problem representation')
  return representation
}
