/** An entity tag in a header (RFC 9110 section 8.8.3). `opaque` includes the quotes. */
export interface EntityTag {
  readonly weak: boolean
  readonly opaque: string
}

/** One list element with its comma. Elements may be empty (RFC 9110 section 5.6.1.2), and tags may contain commas. */
const member = /[\t ]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(?:,|$)/y

/** The entity tags of an If-Match or If-None-Match header, or `*`. Undefined when the header is malformed or empty. */
export function parseEntityTags(header: string): readonly EntityTag[] | '*' | undefined {
  if (header.trim() === '*') return '*'
  const tags: EntityTag[] = []
  member.lastIndex = 0
  while (member.lastIndex < header.length) {
    const found = member.exec(header)
    if (!found) return undefined
    if (found[2] !== undefined) tags.push({ weak: found[1] !== undefined, opaque: found[2] })
  }
  return tags.length > 0 ? tags : undefined
}
