import { child, childrenOf, type Element } from '../schemas/element.ts'
import type { Xsd } from '../schemas/vocabulary.ts'
import { readXml } from '../schemas/xml.ts'

/** What an XSD says that only a description of the API asks for; documents themselves are judged by the XSD. */
export interface Particles {
  readonly namespace: string | undefined
  /** The names of which exactly one is there. */
  readonly choices: readonly (readonly string[])[]
  /** The patterns of the numbers that must be above 0. */
  readonly positive: ReadonlySet<string>
  /** By name of element: how often it can be there, where there is a bound. */
  readonly maxOccurs: ReadonlyMap<string, number>
  /** By name of element: the name of its type. */
  readonly typeNames: ReadonlyMap<string, string>
}

/** Elements of one name that are declared differently in several places are left out. */
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

  const bounded = [...agreed(bounds)].map(([name, bound]): [string, number] => [name, Number(bound)]).filter(([, bound]) => bound > 1)
  return { namespace: schema.attributes?.['targetNamespace'], choices, positive, maxOccurs: new Map(bounded), typeNames: agreed(types) }
}

function agreed(values: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyMap<string, string> {
  return new Map([...values].flatMap(([name, found]) => (found.size === 1 ? [[name, [...found][0] ?? ''] as const] : [])))
}
