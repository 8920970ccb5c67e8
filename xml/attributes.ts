import type { Tag } from './tag.ts'
import { attribute, match, name } from './tag-syntax.ts'

/** The attributes of a tag with their values, both as they are written. */
function attributesOf(source: string, tag: Tag): readonly (readonly [name: string, value: string])[] {
  const found: [string, string][] = []
  let at = tag.start + 1 + (match(name, source, tag.start + 1)?.[0].length ?? 0)
  for (let one = match(attribute, source, at); one; one = match(attribute, source, at)) {
    const [whole, own = '', value = ''] = one
    at += whole.length
    found.push([own, value.slice(1, -1)])
  }
  return found
}

/** What the nearest declaration of a namespace says: of the element itself, or of one around it. */
function declared(source: string, tag: Tag, declaration: string): string | undefined {
  for (let around: Tag | undefined = tag; around; around = around.parent) {
    const found = attributesOf(source, around).find(([own]) => own === declaration)
    if (found) return found[1]
  }
  return undefined
}

/** The elements without a prefix that a default namespace puts into a namespace. */
export function inDefaultNamespace(source: string, tags: readonly Tag[]): ReadonlySet<Tag> {
  const found = new Set<Tag>()
  if (!source.includes('xmlns')) return found
  for (const tag of tags) {
    const own = attributesOf(source, tag).find(([attributeName]) => attributeName === 'xmlns')
    if (own ? own[1] !== '' : tag.parent && found.has(tag.parent)) found.add(tag)
  }
  return found
}

const namespaced = /^\{(.*)\}(.*)$/s

/**
 * An attribute as the document writes it. libxml2 names the namespace in braces where the document has a prefix.
 * @param tag the element that has it
 */
export function writtenAttribute(source: string, tag: Tag, engineName: string): string {
  const [, namespace, local = engineName] = namespaced.exec(engineName) ?? []
  if (namespace === undefined) return engineName
  const candidates = attributesOf(source, tag).flatMap(([own]) => (own.endsWith(`:${local}`) ? [own] : []))
  const prefixOf = (own: string) => own.slice(0, own.indexOf(':'))
  return candidates.find((own) => declared(source, tag, `xmlns:${prefixOf(own)}`) === namespace) ?? candidates[0] ?? local
}
