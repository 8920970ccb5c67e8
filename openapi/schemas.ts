import { camelCase } from '../schemas/json.ts'
import { type AttributeType, type ElementType, isNumeric, type SimpleType, type Vocabulary, type Xsd } from '../schemas/vocabulary.ts'
import { directionOf, hasDirection } from './direction.ts'
import { type Direction, described, type JsonSchema, numberSchema, textSchema } from './texts.ts'

/** A position in a document. `path` starts at the root and ends with a slash, or is empty. */
interface Site {
  readonly direction: Direction
  readonly root: string
  readonly path: string
}

interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
}

export interface SchemaWriterOptions {
  /** Adds the schema of a named type to the components. @returns a reference to it */
  readonly share: (typeName: string, direction: Direction, schema: JsonSchema) => JsonSchema
  /** The configured maximum number of occurrences, by element name. */
  readonly bounds: Readonly<Record<string, number>>
}

export type SchemaWriter = (type: ElementType, direction: Direction) => JsonSchema

/** The type of each element name. Undefined for a name that stands for elements of several types. */
function typeNamesIn(vocabulary: Vocabulary): ReadonlyMap<string, string | undefined> {
  const found = new Map<string, string | undefined>()
  const visit = ({ name, typeName, children }: ElementType): void => {
    found.set(name, found.has(name) && found.get(name) !== typeName ? undefined : typeName)
    for (const child of children) visit(child)
  }
  for (const root of vocabulary.values()) visit(root)
  return found
}

const named = (name: string) => (camelCase(name) === name ? {} : { name })

/**
 * Makes a writer of JSON Schemas for the documents of an XSD. The schema describes the JSON; OpenAPI's `xml` keywords describe how
 * the XML differs. OpenAPI 3.1 has no keyword for text beside attributes, so `x-text` marks it.
 */
export function makeSchemaWriter({ namespace, vocabulary }: Xsd, { share, bounds }: SchemaWriterOptions): SchemaWriter {
  const typeNames = typeNamesIn(vocabulary)

  function text(type: SimpleType, { direction, root }: Site): JsonSchema {
    // A problem's status and lines are JSON numbers (RFC 9457).
    if (root === 'problem' && type.base === 'xs:positiveInteger') return { type: 'integer', minimum: 1 }
    if (direction !== 'in') return textSchema(type, direction)
    const { isPositive = false } = type
    const string = { ...textSchema(type, direction), ...(isPositive ? { not: { pattern: '^[0.]+$' } } : {}) }
    return isNumeric(type) ? { anyOf: [string, numberSchema(type, isPositive)] } : string
  }

  function element(type: ElementType, site: Site): JsonSchema {
    if (type.text && type.attributes.length > 0) return textWithAttributes(type, type.text, site)
    if (type.text) return { ...text(type.text, site), ...described(type.documentation, type.text.documentation) }
    const [only, ...others] = type.children
    // In a problem's XML, an array is an element with `i` children (RFC 9457 appendix B).
    if (only?.name === 'i' && others.length === 0)
      return { type: 'array', items: { ...element(only, site), xml: { name: 'i' } }, xml: { wrapped: true } }
    const schema = { ...described(type.documentation), ...members(type, site) }
    const typeName = typeNames.get(type.name)
    return typeName === undefined ? schema : share(typeName, site.direction, schema)
  }

  /** Requests may also have a plain string, unless an attribute is required. */
  function textWithAttributes(type: ElementType, own: SimpleType, site: Site): JsonSchema {
    const object = members(type, site, { ...text(own, site), ...described(own.documentation), xml: { 'x-text': true } })
    if (site.direction !== 'in' || type.attributes.some(({ required }) => required)) return { ...object, ...described(type.documentation) }
    return { oneOf: [text(own, site), object], ...described(type.documentation, own.documentation) }
  }

  /** Applies the direction rules to a member: request only, always sent, or ignored in requests. */
  function applyDirection({ name, schema, required }: Member, { direction, root, path }: Site): readonly Member[] {
    const { alwaysSent, managed, requestOnly, maybeAbsent = [] } = directionOf(root)
    const place = path + name
    const isSent = !maybeAbsent.includes(place) && (required || alwaysSent.includes(place))
    if (direction !== 'in') return requestOnly.includes(place) ? [] : [{ name, schema, required: isSent }]
    const marks = { ...(managed.includes(place) ? { readOnly: true } : {}), ...(requestOnly.includes(place) ? { writeOnly: true } : {}) }
    return [{ name, schema: { ...schema, ...marks }, required }]
  }

  function attributeMember({ name, required, type }: AttributeType, site: Site): Member {
    return { name, schema: { ...text(type, site), ...described(type.documentation), xml: { ...named(name), attribute: true } }, required }
  }

  function childMember(type: ElementType, { direction, root, path }: Site): Member {
    const { name, repeatable, required } = type
    const own = [`${root}/${path}${name}`, name].find(hasDirection)
    const { xml, ...schema } = element(
      type,
      own === undefined ? { direction, root, path: `${path}${name}/` } : { direction, root: own, path: '' }
    )
    const hints = { ...(xml as object | undefined), ...named(name) }
    const one = Object.keys(hints).length > 0 ? { ...schema, xml: hints } : schema
    // In responses, a repeatable element is always present as an array, which may be empty.
    return repeatable ? { name, schema: array(type, one), required: direction !== 'in' || required } : { name, schema: one, required }
  }

  /** @param value the schema of the element's text */
  function members(type: ElementType, site: Site, value?: JsonSchema): JsonSchema {
    const all: readonly Member[] = [
      ...(value ? [{ name: 'value', schema: value, required: true }] : []),
      ...type.attributes.flatMap((attribute) => applyDirection(attributeMember(attribute, site), site)),
      ...type.children.flatMap((child) => applyDirection(childMember(child, site), site))
    ]
    const properties = Object.fromEntries(all.map(({ name, schema }) => [camelCase(name), schema]))
    const required = all.filter((member) => member.required).map(({ name }) => camelCase(name))
    return {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      ...alternatives(type, properties),
      ...(site.direction === 'in' ? { additionalProperties: false } : {})
    }
  }

  function array(type: ElementType, items: JsonSchema): JsonSchema {
    const maxItems = bounds[type.name] ?? type.most
    return { type: 'array', items, ...(type.required ? { minItems: 1 } : {}), ...(maxItems === undefined ? {} : { maxItems }) }
  }

  function alternatives(type: ElementType, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
    const choice = type.children.find((child) => child.alternatives)?.alternatives ?? []
    const there = choice.map(camelCase).filter((name) => Object.hasOwn(properties, name))
    return there.length > 1 ? { oneOf: there.map((name) => ({ required: [name] })) } : {}
  }

  return (type, direction) => {
    const site: Site = { direction, root: type.name, path: '' }
    return {
      ...described(type.documentation),
      ...members(type, site),
      xml: { name: type.name, ...(namespace === undefined ? {} : { namespace }) }
    }
  }
}
