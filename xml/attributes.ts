import type { Tag } from './tag.ts'
import { attribute, match, name } from './tag-syntax.ts'

/** The names and values of a tag's attributes, exactly as the document writes them. */
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

/** The namespaces that a tag declares, by their prefixes, and those around it. Tags are read once, however many errors they have. */
const scopes = new WeakMap<Tag, ReadonlyMap<string, string>>()

function scopeOf(source: string, tag: Tag): ReadonlyMap<string, string> {
  const known = scopes.get(tag)
  if (known) return known
  const around = tag.parent ? scopeOf(source, tag.parent) : new Map<string, string>()
  const own = attributesOf(source, tag).filter(([name]) => name.startsWith('xmlns:'))
  const scope = own.length === 0 ? around : new Map([...around, ...own.map(([name, value]) => [name.slice(6), value] as const)])
  scopes.set(tag, scope)
  return scope
}

/** The elements in the scope of a default namespace declaration. Those without a prefix are in that namespace. */
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
 * The name of an attribute as the document writes it, with its prefix. libxml2 writes `{namespace}name`.
 * @param tag the element that has the attribute
 */
export function writtenAttribute(source: string, tag: Tag, engineName: string): string {
  const [, namespace, local = engineName] = namespaced.exec(engineName) ?? []
  if (namespace === undefined) return engineName
  const candidates = attributesOf(source, tag).flatMap(([own]) => (own.endsWith(`:${local}`) ? [own] : []))
  const prefixOf = (own: string) => own.slice(0, own.indexOf(':'))
  const scope = scopeOf(source, tag)
  return candidates.find((own) => scope.get(prefixOf(own)) === namespace) ?? candidates[0] ?? local
}
