import { ofPlaced } from '../representations/checked-order.ts'
import { uris } from '../representations/links.ts'
import { publishedXsds } from '../representations/published-xsds.ts'
import { camelCase } from '../schemas/json.ts'
import { rootType, type Xsd } from '../schemas/vocabulary.ts'
import { hasDirection } from './direction.ts'
import { makeSchemaWriter, type SchemaWriter } from './schemas.ts'
import type { Direction, JsonSchema } from './texts.ts'

export interface DocumentSchemas {
  /** A reference to the schema of the documents with this root element. */
  ref(root: string, direction: Direction): JsonSchema
  /** A reference to the schema of a response about an order that is only checked. */
  checkedRef(root: string): JsonSchema
  /** All schemas that were referred to, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** The properties that a checked order does not have. */
const ofStored: ReadonlySet<string> = new Set(ofPlaced.map(camelCase))

/** `purchase-order` becomes `PurchaseOrder`. A document whose input differs has two names: `Order` in responses, `OrderInput` in requests. */
function componentName(root: string, direction: Direction): string {
  const pascal = camelCase(`-${root}`)
  if (direction === 'blank') return `Blank${pascal}`
  return direction === 'in' && hasDirection(root) ? `${pascal}Input` : pascal
}

export function makeDocumentSchemas(base: string, bounds: Readonly<Record<string, number>>): DocumentSchemas {
  const schemas: Record<string, JsonSchema> = {}
  const written = new Map<string, string>()
  const writers = new Map<Xsd, SchemaWriter>()

  const keep = (name: string, schema: JsonSchema, more: JsonSchema = {}): JsonSchema | undefined => {
    const source = JSON.stringify(schema)
    if ((written.get(name) ?? source) !== source) return undefined
    written.set(name, source)
    schemas[name] = { ...schema, ...schemas[name], ...more }
    return { $ref: `#/components/schemas/${name}` }
  }

  const share = (typeName: string, direction: Direction, schema: JsonSchema): JsonSchema => {
    const name = componentName(typeName, direction)
    return keep(name, schema) ?? keep(`${name}${direction === 'in' ? 'Input' : ''}`, schema) ?? schema
  }

  return {
    schemas,
    checkedRef(root) {
      this.ref(root, 'out')
      const name = componentName(root, 'out')
      const { properties, required, ...schema } = schemas[name] as { properties: object; required: readonly string[] }
      const without = { properties: Object.fromEntries(Object.entries(properties).filter(([member]) => !ofStored.has(member))) }
      const checked = { ...schema, ...without, required: required.filter((member) => !ofStored.has(member)) }
      return keep(`Checked${name}`, checked) ?? checked
    },
    ref(root, direction) {
      const xsd = publishedXsds.find(({ vocabulary }) => vocabulary.has(root))
      if (!xsd) throw new Error(`no described schema declares ${root}`)
      const write = writers.get(xsd) ?? makeSchemaWriter(xsd, { share, bounds })
      writers.set(xsd, write)
      const { xml, ...schema } = write(rootType(xsd, root), direction)
      const externalDocs = { description: `The XML Schema of <${root}>`, url: uris(base).schema(root) }
      const ref = keep(componentName(root, direction), schema, { xml, externalDocs })
      if (!ref) throw new Error(`two different schemas have the name ${componentName(root, direction)}`)
      return ref
    }
  }
}
