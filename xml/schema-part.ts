import type { Element } from '../schemas/element.ts'
import { readXml, writeXml } from '../schemas/xml.ts'

const references = ['type', 'base', 'ref'] as const

/**
 * The part of a schema that judges documents with these roots: what they reach, without the annotations. libxml2 compiles a
 * schema again at each validation, which takes longer than to validate an order; this is about half of the work.
 */
export function partFor(xsd: string, roots: readonly string[]): string {
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
      // Types, groups and elements have names of their own kind each; to keep one too many does no harm.
      for (const component of components) if (component.attributes?.['name'] === name) keep(component)
    }
    for (const child of children ?? []) visit(child)
  }
  for (const component of components) {
    if (component.name === 'xs:element' && roots.includes(component.attributes?.['name'] ?? '')) keep(component)
  }

  return writeXml({
    ...schema,
    attributes: { ...schema.attributes, 'xmlns:xs': 'http://www.w3.org/2001/XMLSchema' },
    children: components.filter((component) => kept.has(component)).map(bare)
  })
}

function bare({ children, ...element }: Element): Element {
  if (!children) return element
  return { ...element, children: children.filter(({ name }) => name !== 'xs:annotation').map(bare) }
}
