import { child, childrenOf, type Element } from '../schemas/element.ts'
import type { Xsd } from '../schemas/vocabulary.ts'
import { readXml } from '../schemas/xml.ts'

/** Facts of an XSD that only the API's description needs. Documents are validated by the XSD itself. */
export interface Particles {
  readonly namespace: string | undefined
  /** Groups of element names of which exactly one must be present. */
  readonly choices: readonly (readonly string[])[]
  /** The patterns of number types that must be above 0. */
  readonly positive: ReadonlySet<string>
  /** The maximum number of occurrences by element name, if there is one. */
  readonly maxOccurs: ReadonlyMap<string, number>
  /** The type name by element name. */
  readonly typeNames: ReadonlyMap<string, string>
}

/** Reads the particles of an XSD. Element names with several different declarations are left out. */
export function particlesOf(xsd: Xsd): Particles {
  const schema = readXml(xsd.source.toString('utf8'))
  const choices: (readonly string[])[] = []
  const positive = new Set<string>()
  const bounds = new Map<string, Set<string>>()
  const types = new Map<string, Set<string>>()
  const note = (values: Map<string, Set<string>>, name: string, value: string) =>
    values.set(name, (values.get(name) ?? new Set()).add(value))

  const visit = (part: Element, isRoot: boolean): void => {
    if (part.name === 'xs:choice') choices.push(childrenOf(part, 'xs:element').map(({ attributes }) => attributes?.['name'] ?? ''))
    if (part.name === 'xs:restriction' && child(part, 'xs:minExclusive')?.attributes?.['value'] === '0') {
      for (const { attributes } of childrenOf(part, 'xs:pattern')) positive.add(attributes?.['value'] ?? '')
    }
    if (part.name === 'xs:element') {
      const { name = '', type = '', maxOccurs = '1' } = part.attributes ?? {}
      note(types, name, type)
      if (!isRoot) note(bounds, name, maxOccurs)
    }
    for (const inner of part.children ?? []) visit(inner, false)
  }
  for (const part of schema.children ?? []) visit(part, true)

  const bounded = [...unambiguous(bounds)].map(([name, bound]): [string, number] => [name, Number(bound)]).filter(([, bound]) => bound > 1)
  return {
    namespace: schema.attributes?.['targetNamespace'],
    choices,
    positive,
    maxOccurs: new Map(bounded),
    typeNames: unambiguous(types)
  }
}

function unambiguous(values: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, string> {
  return new Map([...values].flatMap(([name, found]) => (found.size === 1 ? [[name, [...found][0] ?? ''] as const] : [])))
}
