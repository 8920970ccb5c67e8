import { camelCase } from '../schemas/json.ts'
import { type AttributeType, type ElementType, isNumeric, type SimpleType, type Xsd } from '../schemas/vocabulary.ts'
import { directionOf, hasDirection } from './direction.ts'
import { particlesOf } from './particles.ts'
import { described, type JsonSchema, numberSchema, textSchema, type Way } from './texts.ts'

/** Where in a document something is described: `path` from the root, with a slash at its end, or empty. */
interface Site {
  readonly way: Way
  readonly root: string
  readonly path: string
}

interface Member {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
}

export interface SchemaWriterOptions {
  /** Keeps the schema of a named type, and gives what stands for it: a reference. */
  readonly share: (typeName: string, way: Way, schema: JsonSchema) => JsonSchema
  /** How often elements can be there by configuration, by name. */
  readonly bounds: Readonly<Record<string, number>>
}

export type SchemaWriter = (type: ElementType, way: Way) => JsonSchema

const named = (name: string) => (camelCase(name) === name ? {} : { name })

/**
 * Writes the JSON Schema of an XSD's documents: as JSON has them, with OpenAPI's `xml` keywords for how XML differs.
 * 3.1 has no word for an element's own text beside attributes: `x-text` marks it.
 */
export function makeSchemaWriter(xsd: Xsd, { share, bounds }: SchemaWriterOptions): SchemaWriter {
  const { namespace, choices, positive, maxOccurs, typeNames } = particlesOf(xsd)

  function text(type: SimpleType, { way, root }: Site): JsonSchema {
    // In JSON a problem's status and lines are numbers (RFC 9457).
    if (root === 'problem' && type.base === 'xs:positiveInteger') return { type: 'integer', minimum: 1 }
    if (way !== 'in') return textSchema(type, way)
    const isPositive = type.patterns.some((pattern) => positive.has(pattern))
    const string = { ...textSchema(type, way), ...(isPositive ? { not: { pattern: '^[0.]+$' } } : {}) }
    return isNumeric(type) ? { anyOf: [string, numberSchema(type, isPositive)] } : string
  }

  function element(type: ElementType, site: Site): JsonSchema {
    if (type.text && type.attributes.length > 0) return textWithAttributes(type, type.text, site)
    if (type.text) return { ...text(type.text, site), ...described(type.documentation, type.text.documentation) }
    const [only, ...others] = type.children
    // RFC 9457 appendix B: an array is an element of `i`.
    if (only?.name === 'i' && others.length === 0)
      return { type: 'array', items: { ...element(only, site), xml: { name: 'i' } }, xml: { wrapped: true } }
    const schema = { ...described(type.documentation), ...members(type, site) }
    const typeName = typeNames.get(type.name)
    return typeName === undefined ? schema : share(typeName, site.way, schema)
  }

  /** On the way in a plain string serves too, unless an attribute is needed. */
  function textWithAttributes(type: ElementType, own: SimpleType, site: Site): JsonSchema {
    const object = members(type, site, { ...text(own, site), ...described(own.documentation), xml: { 'x-text': true } })
    if (site.way !== 'in' || type.attributes.some(({ required }) => required)) return { ...object, ...described(type.documentation) }
    return { oneOf: [text(own, site), object], ...described(type.documentation, own.documentation) }
  }

  /** A member as it is on its way: some go in only, some are always sent, some are ignored. */
  function directed({ name, schema, required }: Member, { way, root, path }: Site): readonly Member[] {
    const { sent, managed, unsent } = directionOf(root)
    const place = path + name
    if (way !== 'in') return unsent.includes(place) ? [] : [{ name, schema, required: required || sent.includes(place) }]
    const marks = { ...(managed.includes(place) ? { readOnly: true } : {}), ...(unsent.includes(place) ? { writeOnly: true } : {}) }
    return [{ name, schema: { ...schema, ...marks }, required }]
  }

  function attributeMember({ name, required, type }: AttributeType, site: Site): Member {
    return { name, schema: { ...text(type, site), ...described(type.documentation), xml: { ...named(name), attribute: true } }, required }
  }

  function childMember(type: ElementType, { way, root, path }: Site): Member {
    const { name, repeatable, required } = type
    const { xml, ...schema } = element(type, hasDirection(name) ? { way, root: name, path: '' } : { way, root, path: `${path}${name}/` })
    const hints = { ...(xml as object | undefined), ...named(name) }
    const one = Object.keys(hints).length > 0 ? { ...schema, xml: hints } : schema
    // What can be there more than once is always there on the way out, as an array, if an empty one.
    return repeatable ? { name, schema: array(type, one), required: way !== 'in' || required } : { name, schema: one, required }
  }

  /** @param value the schema of the element's own text */
  function members(type: ElementType, site: Site, value?: JsonSchema): JsonSchema {
    const all: readonly Member[] = [
      ...(value ? [{ name: 'value', schema: value, required: true }] : []),
      ...type.attributes.flatMap((attribute) => directed(attributeMember(attribute, site), site)),
      ...type.children.flatMap((child) => directed(childMember(child, site), site))
    ]
    const properties = Object.fromEntries(all.map(({ name, schema }) => [camelCase(name), schema]))
    const required = all.filter((member) => member.required).map(({ name }) => camelCase(name))
    return {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      ...alternatives(type, properties),
      ...(site.way === 'in' ? { additionalProperties: false } : {})
    }
  }

  function array(type: ElementType, items: JsonSchema): JsonSchema {
    const most = bounds[type.name] ?? maxOccurs.get(type.name)
    return { type: 'array', items, ...(type.required ? { minItems: 1 } : {}), ...(most === undefined ? {} : { maxItems: most }) }
  }

  function alternatives(type: ElementType, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
    const own = type.children.map(({ name }) => name)
    const choice = choices.find((names) => names.every((name) => own.includes(name))) ?? []
    const there = choice.map(camelCase).filter((name) => Object.hasOwn(properties, name))
    return there.length > 1 ? { oneOf: there.map((name) => ({ required: [name] })) } : {}
  }

  return (type, way) => {
    const site: Site = { way, root: type.name, path: '' }
    return {
      ...described(type.documentation),
      ...members(type, site),
      xml: { name: type.name, ...(namespace === undefined ? {} : { namespace }) }
    }
  }
}
