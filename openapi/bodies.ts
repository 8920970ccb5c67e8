import { ublMediaTypes } from '../http/media-types.ts'
import type { MediaType, Operation } from '../representations/api-description.ts'
import type { Representations } from '../representations/representation.ts'
import type { DocumentSchema } from '../schemas/document.ts'
import { formMediaType } from '../schemas/form.ts'
import { type ElementType, rootType } from '../schemas/vocabulary.ts'
import type { DocumentSchemas } from './components.ts'
import type { OwnForm } from './description.ts'
import { answerExample, formExamples, requestJson, requestXml } from './examples.ts'
import { described, type JsonSchema, textSchema } from './texts.ts'

type Content = Readonly<Record<string, MediaType>>

/** Adds an example to the components. @returns a reference to it */
export type KeepExample = (name: string, value: unknown) => Pick<MediaType, 'examples'>

/** The form of a page that has another method performed: the method, the entity tag of the resource, and the fields. */
const pageForm: JsonSchema = {
  type: 'object',
  properties: { _method: { type: 'string' }, '_if-match': { type: 'string' } },
  required: ['_method'],
  additionalProperties: { type: 'string' }
}

/** The request body of a route that takes forms only. @param own the route's own form, if it reads one itself */
export function formBody(own: OwnForm | undefined): NonNullable<Operation['requestBody']> {
  if (!own) return { required: true, content: { [formMediaType]: { schema: pageForm } } }
  const fields = Object.entries(own.fields).map(([name, description]) => [name, { type: 'string', description }])
  const schema = { type: 'object', properties: Object.fromEntries(fields), additionalProperties: { type: 'string' } }
  return { required: own.required, content: { [formMediaType]: { schema } } }
}

/** The request body of a document's route, by media type. JSON and forms name no root element; theirs is the first. */
export function requestContent(body: DocumentSchema<unknown>, documents: DocumentSchemas, keepExample: KeepExample): Content {
  const [first, ...others] = body.roots
  const type = rootType(body.xsd, first)
  const xml = others.length === 0 ? documents.ref(first, 'in') : { anyOf: body.roots.map((root) => documents.ref(root, 'in')) }
  return {
    'application/xml': { schema: xml, ...keepExample(`${first}-input.xml`, requestXml(first)) },
    'text/xml': { schema: xml },
    'application/json': { schema: documents.ref(first, 'in'), ...keepExample(`${first}-input.json`, requestJson(type)) },
    ...(body.takesOthers ? Object.fromEntries(ublMediaTypes.map((mediaType) => [mediaType, { schema: otherVocabulary }])) : {}),
    ...(body.forms ? { [formMediaType]: { schema: formSchema(type), ...keepExample(`${first}.form`, formExamples[first]) } } : {})
  }
}

const otherVocabulary: JsonSchema = {
  type: 'string',
  description: 'A UBL 2 Order, OrderChange or OrderCancellation, or cXML. `application/xml` and `text/xml` can hold them too.'
}

/** The schema of a form. Field names are element names, with dots between levels and numbers for repeated elements. */
function formSchema(type: ElementType): JsonSchema {
  const fields: [string, JsonSchema][] = []
  const collect = (one: ElementType, path: string) => {
    if (one.text) fields.push([path, { ...textSchema(one.text, 'in'), ...described(one.documentation, one.text.documentation) }])
    for (const attribute of one.attributes)
      fields.push([`${path === '' ? '' : `${path}\\.`}${attribute.name}`, textSchema(attribute.type, 'in')])
    for (const child of one.children)
      collect(child, `${path === '' ? '' : `${path}\\.`}${child.name}${child.repeatable ? '\\.[0-9]+' : ''}`)
  }
  collect(type, '')
  return {
    type: 'object',
    description:
      'Field names are the names of the XML, with dots between the levels, and a number for each repeatable element. Blank fields are ignored, and so are fields whose name starts with `_`.',
    patternProperties: { ...Object.fromEntries(fields.map(([path, schema]) => [`^${path}$`, schema])), '^_': { type: 'string' } },
    additionalProperties: false
  }
}

/** Documents that the service sends as blanks, to be filled in. */
const blanks = new Set(['purchase-order'])

const looseSchemas: Readonly<Record<string, JsonSchema>> = { 'application/json': { type: 'object' } }

/** The response body of a resource, by media type. */
export function answerContent(
  represents: Representations<never>,
  documents: DocumentSchemas,
  base: string,
  keepExample: KeepExample
): Content {
  const { schema } = represents
  return Object.fromEntries(
    represents.variants.map(({ mediaType }) => {
      const isDocument = schema !== undefined && /[/+](?:xml|json)$/.test(mediaType)
      const described = isDocument
        ? documents.ref(schema, blanks.has(schema) ? 'blank' : 'out')
        : (looseSchemas[mediaType] ?? { type: 'string' })
      const example = mediaType === 'text/xml' ? undefined : answerExample(represents, mediaType, base)
      return [mediaType, { schema: described, ...keepExample(`${schema}.${mediaType.slice(mediaType.indexOf('/') + 1)}`, example) }]
    })
  )
}

/** The response body of a route without negotiation. */
export function plainContent(mediaTypes: readonly string[]): Content {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: looseSchemas[mediaType] ?? { type: 'string' } }]))
}
