import { uris } from '../representations/links.ts'
import { problemXsd } from '../representations/problem.ts'
import { serviceXsd } from '../representations/service.ts'
import { camelCase } from '../schemas/json.ts'
import { orderStatusXsd } from '../schemas/order-status.ts'
import { productXsd } from '../schemas/product.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { stockXsd } from '../schemas/stock.ts'
import type { ElementType, Xsd } from '../schemas/vocabulary.ts'
import { hasDirection } from './direction.ts'
import { makeSchemaWriter, type SchemaWriter } from './schemas.ts'
import type { JsonSchema, Way } from './texts.ts'

const xsds: readonly Xsd[] = [orderXsd, productXsd, stockXsd, orderStatusXsd, serviceXsd, problemXsd]

export interface DocumentSchemas {
  /** A reference to the schema of the documents with this root element. */
  ref(root: string, way: Way): JsonSchema
  /** What has been referred to, by name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** `purchase-order` -> `PurchaseOrder`. A document that differs by its way has two: `Order` as it is sent, `OrderInput` as it is read. */
function componentName(root: string, way: Way): string {
  const pascal = camelCase(`-${root}`)
  if (way === 'blank') return `Blank${pascal}`
  return way === 'in' && hasDirection(root) ? `${pascal}Input` : pascal
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

  const share = (typeName: string, way: Way, schema: JsonSchema): JsonSchema => {
    const name = componentName(typeName, way)
    return keep(name, schema) ?? keep(`${name}${way === 'in' ? 'Input' : ''}`, schema) ?? schema
  }

  const declaring = (root: string): [Xsd, ElementType] => {
    for (const xsd of xsds) {
      const type = xsd.vocabulary.get(root)
      if (type) return [xsd, type]
    }
    throw new Error(`no schema that is described declares ${root}`)
  }

  return {
    schemas,
    ref(root, way) {
      const [xsd, type] = declaring(root)
      const write = writers.get(xsd) ?? makeSchemaWriter(xsd, { share, bounds })
      writers.set(xsd, write)
      const { xml, ...schema } = write(type, way)
      const externalDocs = { description: `The XML Schema of <${root}>`, url: uris(base).schema(root) }
      const ref = keep(componentName(root, way), schema, { xml, externalDocs })
      if (!ref) throw new Error(`two schemas would be called ${componentName(root, way)}`)
      return ref
    }
  }
}
