import { type Link, uris } from '../representations/links.ts'
import type { Representation, Representations } from '../representations/representation.ts'

/**
 * The Link header field of a resource (RFC 8288); empty without links.
 * @param chosen the representation that is sent; the others are its alternates
 * @param links of the resource itself
 * @param uri of the resource; without it there are no alternates
 * @param base the path of BASE_URL
 */
export function linkField(
  { variants, schema }: Representations<never>,
  chosen: Representation<never>,
  links: readonly Link[],
  { uri, base }: { readonly uri: string | undefined; readonly base: string }
): string {
  const fields: string[] = []
  for (const variant of variants) {
    if (uri !== undefined && variant !== chosen && !variant.alias) fields.push(`<${uri}>; rel="alternate"; type="${variant.mediaType}"`)
  }
  if (schema !== undefined) fields.push(`<${uris(base).schema(schema)}>; rel="describedby"; type="application/xml"`)
  for (const { rel, href } of links) if (rel !== 'self') fields.push(`<${href}>; rel="${rel}"`)
  return fields.join(', ')
}
