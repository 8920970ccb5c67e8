import type { Element } from '../schemas/element.ts'
import { readXml, writeXml } from '../schemas/xml.ts'
import { batchFiller, batchMember, batchRoot } from './batch.ts'

const references = ['type', 'base', 'ref'] as const

/**
 * The part of a schema that documents with these roots need: the components that the roots reach, without annotations.
 * libxml2 compiles the schema at each validation, which takes longer than validating an order. The part halves that time.
 */
export function partFor(xsd: string, roots: readonly string[]): string {
  return writeXml(reachable(xsd, roots))
}

/** The part of a schema that validates values only: the elements of each type may be missing, repeated and in any order. */
export function valuesPartFor(xsd: string, roots: readonly string[]): string {
  return writeXml(inAnyOrder(reachable(xsd, roots)))
}

/** @param inGroup whether the content belongs to a group, where XSD allows no number of occurrences */
function inAnyOrder({ name, attributes, children }: Element, inGroup = false): Element {
  const content = children && { children: children.map((child) => inAnyOrder(child, name === 'xs:group')) }
  if (name === 'xs:sequence') {
    return { name: 'xs:choice', ...(inGroup ? {} : { attributes: { minOccurs: '0', maxOccurs: 'unbounded' } }), ...content }
  }
  const { minOccurs: _least, maxOccurs: _most, ...rest } = attributes ?? {}
  return { name, attributes: rest, ...content }
}

/** The part of a schema for a batch of this size, in which each document has one of these roots. */
export function batchPartFor(xsd: string, roots: readonly string[], size: number): string {
  const part = reachable(xsd, roots)
  const xs = (name: string, attributes: Element['attributes'] = {}, ...children: Element[]): Element => ({
    name: `xs:${name}`,
    attributes,
    children
  })
  const document = xs('complexType', {}, xs('choice', {}, ...roots.map((ref) => xs('element', { ref }))))
  const members = [xs('element', { name: batchMember }, document), xs('element', { name: batchFiller }, xs('complexType'))]
  const all = xs('choice', { minOccurs: String(size), maxOccurs: String(size) }, ...members)
  return writeXml({ ...part, children: [...(part.children ?? []), xs('element', { name: batchRoot }, xs('complexType', {}, all))] })
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
