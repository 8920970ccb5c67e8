import type { FastifyInstance } from 'fastify'
import libxmljs, { type ValidationError } from 'libxmljs2'

const options = { nonet: true, encoding: 'UTF-8' }

function parse(xml: string) {
  return libxmljs.parseXml(Buffer.from(xml) as unknown as string, options)
}

/** What the schema that the service publishes for a document's root element, fetched over HTTP, has against the document. */
export async function faultsByPublishedSchema(app: FastifyInstance, xml: string, base = ''): Promise<readonly ValidationError[]> {
  const document = parse(xml)
  const root = document.root()?.name()
  const response = await app.inject(`${base}/schemas/${root}.xsd`)
  if (response.statusCode !== 200) throw new Error(`/schemas/${root}.xsd answers ${response.statusCode}`)
  document.validate(parse(response.body))
  return document.validationErrors
}
