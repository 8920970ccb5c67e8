import type { Element } from '../schemas/element.ts'
import { readXml, writeXml } from '../schemas/xml.ts'

const references = ['type', 'base', 'ref'] as const

/**
 * The part of a schema that documents with these roots need: the components that the roots reach, without annotations.
 * libxml2 compiles the schema at each validation, which takes longer than validating an order. The part halves that time.
 */
export function partFor(xsd: string, roots: readonly string[]): string {
  return writeXml(reachable(xsd, roots))
}

/** The root element of a batch of documents. No document has it, since it is in no schema of the service. */
export const batchRoot = 'tradepost-batch'

/** The part of a schema for a batch: an element that has documents with these roots as its children. */
export function batchPartFor(xsd: string, roots: readonly string[]): string {
  const part = reachable(xsd, roots)
  const member = (ref: string): Element => ({ name: 'xs:element', attributes: { ref } })
  const choice: Element = { name: 'xs:choice', attributes: { maxOccurs: 'unbounded' }, children: roots.map(member) }
  const batch: Element = { name: 'xs:element', attributes: { name: batchRoot }, children: [{ name: 'xs:complexType', children: [choice] }] }
  return writeXml({ ...part, children: [...(part.children ?? []), batch] })
}

function reachable(xsd: string, roots: readonly string[]): Element {
  const schema = readXml(xsd)
  const components = schema.children ?? []
  const kept = new Set<Element>()

  const keep = (component: Element): void => {
    if (kept.has(component)) return
    kept.add(component)
    visit(component)
  }
  const visit = ({ attributes, children }: Element): void => {
    for (const reference of references) {
      const name = attributes?.[reference]
      if (name === undefined) continue
      // Types, groups and elements may share a name. Keeping one component too many does no harm.
      for (const component of components) if (component.attributes?.['name'] === name) keep(component)
    }
    for (const child of children ?? []) visit(child)
  }
  for (const component of components) {
    if (component.name === 'xs:element' && roots.includes(component.attributes?.['name'] ?? '')) keep(component)
  }

  return {
    ...schema,
    attributes: { ...schema.attributes, 'xmlns:xs': 'http://www.w3.org/2001/XMLSchema' },
    children: components.filter((component) => kept.has(component)).map(withoutAnnotations)
  }
}

function withoutAnnotations({ children, ...element }: Element): Element {
  if (!children) return element
  return { ...element, children: children.filter(({ name }) => name !== 'xs:annotation').map(withoutAnnotations) }
}
