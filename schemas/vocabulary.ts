import { readFileSync } from 'node:fs'
import { defined } from '../domain/defined.ts'
import { serviceFile } from '../files.ts'
import { child, childrenOf, type Element, tokenOf } from './element.ts'
import { readXml } from './xml.ts'

/** A simple type of an XSD, as far as forms and JSON Schema need it. */
export interface SimpleType {
  readonly base: string
  readonly patterns: readonly string[]
  readonly values: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  /** The number must be above 0. */
  readonly isPositive?: boolean
  /** The type's annotation in the XSD: it describes a valid value and can follow "must be". */
  readonly documentation?: string
}

/** Whether the type's values are numbers: decimals or integers. */
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
  /** The name of its type in the XSD. */
  readonly typeName: string
  readonly required: boolean
  readonly repeatable: boolean
  /** The maxOccurs of a repeatable element; absent when it is unbounded. */
  readonly most?: number
  /** The names of the choice that the element belongs to, of which a document has only one; absent outside a choice. */
  readonly alternatives?: readonly string[]
  readonly documentation?: string
  readonly attributes: readonly AttributeType[]
  /** The type of the element's text; absent when it has no text. */
  readonly text?: SimpleType
  /** In document order. The alternatives of a choice follow one another. */
  readonly children: readonly ElementType[]
}

/** The root elements that a schema declares, by name. */
export type Vocabulary = ReadonlyMap<string, ElementType>

/**
 * Reads the names, order, repetition and values that an XSD allows, so that JSON, forms and the API description follow the
 * same schema. It supports the constructs that the schemas of this folder use: sequence, choice, group, simpleContent.
 * @throws Error on any other construct, which would otherwise be ignored
 */
export function readVocabulary(xsd: string): Vocabulary {
  const schema = readXml(xsd)
  allowOnly(schema, ['xs:element', 'xs:complexType', 'xs:simpleType', 'xs:group'])
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
    allowOnly(definition, ['xs:restriction'])
    allowOnly(restriction, facets)
    const facet = (kind: string) => childrenOf(restriction, kind).map((facet) => facet.attributes?.['value'] ?? '')
    const length = (kind: string) => facet(kind).map(Number)[0]
    const [minLength, maxLength] = [length('xs:minLength'), length('xs:maxLength')]
    return {
      base: attribute(restriction, 'base'),
      patterns: facet('xs:pattern'),
      values: facet('xs:enumeration'),
      ...defined({ minLength, maxLength }),
      ...(facet('xs:minExclusive')[0] === '0' ? { isPositive: true } : {}),
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
        throw new Error(`the schema uses minOccurs or maxOccurs on ${part.name}, which is not supported`)
      if (part.name === 'xs:sequence') return content(part, optional)
      if (part.name === 'xs:choice') return alternatives(content(part, true))
      if (part.name === 'xs:group') return content(named('xs:group', attribute(part, 'ref')), optional)
      if (part.name === 'xs:attribute' || part.name === 'xs:annotation') return []
      throw new Error(`the schema uses ${part.name}, which is not supported`)
    })

  const elementType = (declared: Element, optional: boolean): ElementType => {
    const { minOccurs = '1', maxOccurs = '1' } = declared.attributes ?? {}
    const [name, type] = [attribute(declared, 'name'), attribute(declared, 'type')]
    allowOnly(declared, [])
    const repeatable = maxOccurs !== '1'
    const most = repeatable && maxOccurs !== 'unbounded' ? { most: Number(maxOccurs) } : {}
    const base = { name, typeName: type, required: minOccurs !== '0' && !optional, repeatable, ...most, ...documented(declared) }
    const complex = childrenOf(schema, 'xs:complexType').find((candidate) => candidate.attributes?.['name'] === type)
    if (!complex) return { ...base, attributes: [], text: simple(type), children: [] }
    const extension = child(child(complex, 'xs:simpleContent') ?? complex, 'xs:extension')
    if (extension) allowOnly(extension, ['xs:attribute'])
    if (extension) return { ...base, attributes: attributesOf(extension), text: simple(attribute(extension, 'base')), children: [] }
    return { ...documented(complex), ...base, attributes: attributesOf(complex), children: content(complex, false) }
  }

  return new Map(childrenOf(schema, 'xs:element').map((root) => [attribute(root, 'name'), elementType(root, false)]))
}

/** The supported facets. Of xs:minExclusive only 0 is read: a number's annotation states its bounds. */
const facets = ['xs:pattern', 'xs:enumeration', 'xs:minLength', 'xs:maxLength', 'xs:minExclusive']

function allowOnly(holder: Element, known: readonly string[]): void {
  const other = holder.children?.find(({ name }) => name !== 'xs:annotation' && !known.includes(name))
  if (other) throw new Error(`the schema uses ${other.name} in ${holder.name}, which is not supported`)
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

/** A published schema. */
export interface Xsd {
  readonly name: string
  /** The bytes that /schemas/ serves. */
  readonly source: Buffer
  /** The namespace of its elements, if they have one. */
  readonly namespace: string | undefined
  readonly vocabulary: Vocabulary
}

/** The type of a root element. @throws Error when the schema does not declare it */
export function rootType({ name, vocabulary }: Xsd, root: string): ElementType {
  const type = vocabulary.get(root)
  if (!type) throw new Error(`${name}.xsd declares no ${root}`)
  return type
}

/** The type of a child element. @throws Error when the schema does not declare it */
export function childType(parent: ElementType, name: string): ElementType {
  const type = parent.children.find((child) => child.name === name)
  if (!type) throw new Error(`${parent.name} has no ${name} in the schema`)
  return type
}

/** The most characters of an element's text. @throws Error when the schema has no limit */
export function mostCharacters({ name, text }: ElementType): number {
  if (text?.maxLength === undefined) throw new Error(`the schema has no limit for the text of ${name}`)
  return text.maxLength
}

/** Loads `schemas/<name>.xsd`. */
export function loadXsd(name: string): Xsd {
  const source = readFileSync(serviceFile(`schemas/${name}.xsd`))
  const text = source.toString('utf8')
  return { name, source, namespace: /\btargetNamespace="([^"]*)"/.exec(text)?.[1], vocabulary: readVocabulary(text) }
}
