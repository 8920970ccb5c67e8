import { readFileSync } from 'node:fs'
import { child, childrenOf, type Element, tokenOf } from './element.ts'
import { readXml } from './xml.ts'

/** What a value may be, as far as a person or a JSON Schema can be told. */
export interface SimpleType {
  readonly base: string
  readonly patterns: readonly string[]
  readonly values: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  /** From the schema's own annotation: what a valid value is, to follow "must be". */
  readonly documentation?: string
}

/** Whether its values are numbers: exact decimals, and the integers among them. */
export function isNumeric({ base }: SimpleType): boolean {
  return base === 'xs:decimal' || /^xs:(?:\w+I|i)nteger$/.test(base)
}

export interface AttributeType {
  readonly name: string
  readonly required: boolean
  readonly type: SimpleType
}

export interface ElementType {
  readonly name: string
  readonly required: boolean
  readonly repeatable: boolean
  /** How often it can be there, where it is repeatable within bounds. */
  readonly most?: number
  /** The names of a choice, where it is one of them: only one of these can be there. */
  readonly alternatives?: readonly string[]
  readonly documentation?: string
  readonly attributes: readonly AttributeType[]
  /** The type of its text; absent when it has none. */
  readonly text?: SimpleType
  /** In the order in which a document must have them; alternatives of a choice one after the other. */
  readonly children: readonly ElementType[]
}

/** The root elements that a schema declares, by name. */
export type Vocabulary = ReadonlyMap<string, ElementType>

/**
 * Reads what an XSD says of names, order, repetition and values, so that JSON, forms and the API's description follow
 * the one schema. It knows the constructs that the schemas of this folder use: sequence, choice, group, simpleContent.
 * @throws Error on any other construct: a schema may not say what would be ignored here
 */
export function readVocabulary(xsd: string): Vocabulary {
  const schema = readXml(xsd)
  only(schema, ['xs:element', 'xs:complexType', 'xs:simpleType', 'xs:group'])
  const named = (kind: string, name: string): Element => {
    const found = childrenOf(schema, kind).find((candidate) => candidate.attributes?.['name'] === name)
    if (!found) throw new Error(`the schema has no ${kind} ${name}`)
    return found
  }

  const simple = (name: string): SimpleType => {
    if (name.startsWith('xs:')) return { base: name, patterns: [], values: [] }
    const definition = named('xs:simpleType', name)
    const restriction = child(definition, 'xs:restriction')
    if (!restriction) throw new Error(`simple type ${name} is not a restriction`)
    only(definition, ['xs:restriction'])
    only(restriction, facets)
    const facet = (kind: string) => childrenOf(restriction, kind).map((facet) => facet.attributes?.['value'] ?? '')
    const length = (kind: string) => facet(kind).map(Number)[0]
    const [minLength, maxLength] = [length('xs:minLength'), length('xs:maxLength')]
    return {
      base: attribute(restriction, 'base'),
      patterns: facet('xs:pattern'),
      values: facet('xs:enumeration'),
      ...(minLength === undefined ? {} : { minLength }),
      ...(maxLength === undefined ? {} : { maxLength }),
      ...documented(definition)
    }
  }

  const attributesOf = (holder: Element): AttributeType[] =>
    childrenOf(holder, 'xs:attribute').map((declared) => ({
      name: attribute(declared, 'name'),
      required: declared.attributes?.['use'] === 'required',
      type: simple(attribute(declared, 'type'))
    }))

  const content = (holder: Element, optional: boolean): ElementType[] =>
    (holder.children ?? []).flatMap((part) => {
      if (part.name === 'xs:element') return [elementType(part, optional)]
      if (part.attributes?.['minOccurs'] ?? part.attributes?.['maxOccurs'])
        throw new Error(`${part.name} says how often, which is not read here`)
      if (part.name === 'xs:sequence') return content(part, optional)
      if (part.name === 'xs:choice') return alternatives(content(part, true))
      if (part.name === 'xs:group') return content(named('xs:group', attribute(part, 'ref')), optional)
      if (part.name === 'xs:attribute' || part.name === 'xs:annotation') return []
      throw new Error(`the schema uses ${part.name}, which is not read here`)
    })

  const elementType = (declared: Element, optional: boolean): ElementType => {
    const { minOccurs = '1', maxOccurs = '1' } = declared.attributes ?? {}
    const [name, type] = [attribute(declared, 'name'), attribute(declared, 'type')]
    only(declared, [])
    const repeatable = maxOccurs !== '1'
    const most = repeatable && maxOccurs !== 'unbounded' ? { most: Number(maxOccurs) } : {}
    const base = { name, required: minOccurs !== '0' && !optional, repeatable, ...most, ...documented(declared) }
    const complex = childrenOf(schema, 'xs:complexType').find((candidate) => candidate.attributes?.['name'] === type)
    if (!complex) return { ...base, attributes: [], text: simple(type), children: [] }
    const extension = child(child(complex, 'xs:simpleContent') ?? complex, 'xs:extension')
    if (extension) only(extension, ['xs:attribute'])
    if (extension) return { ...base, attributes: attributesOf(extension), text: simple(attribute(extension, 'base')), children: [] }
    return { ...documented(complex), ...base, attributes: attributesOf(complex), children: content(complex, false) }
  }

  return new Map(childrenOf(schema, 'xs:element').map((root) => [attribute(root, 'name'), elementType(root, false)]))
}

/** The facets that are read, and the one that only libxml2 needs to know: a number's documentation says its bounds. */
const facets = ['xs:pattern', 'xs:enumeration', 'xs:minLength', 'xs:maxLength', 'xs:minExclusive']

function only(holder: Element, known: readonly string[]): void {
  const other = holder.children?.find(({ name }) => name !== 'xs:annotation' && !known.includes(name))
  if (other) throw new Error(`the schema uses ${other.name} in ${holder.name}, which is not read here`)
}

function alternatives(types: readonly ElementType[]): ElementType[] {
  const names = types.map(({ name }) => name)
  return types.map((type) => ({ ...type, alternatives: names }))
}

function attribute(element: Element, name: string): string {
  const value = element.attributes?.[name]
  if (value === undefined) throw new Error(`${element.name} has no ${name}`)
  return value
}

function documented(element: Element): { documentation?: string } {
  const annotation = child(element, 'xs:annotation')
  const documentation = annotation && tokenOf(annotation, 'xs:documentation')
  return documentation === undefined ? {} : { documentation }
}

/** A published schema: its bytes as served, and what they say. */
export interface Xsd {
  readonly name: string
  readonly source: Buffer
  readonly vocabulary: Vocabulary
}

/** Loads `schemas/<name>.xsd` from beside this file. */
export function loadXsd(name: string): Xsd {
  const source = readFileSync(new URL(`./${name}.xsd`, import.meta.url))
  return { name, source, vocabulary: readVocabulary(source.toString('utf8')) }
}
