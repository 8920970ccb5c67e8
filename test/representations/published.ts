import type { FastifyInstance } from 'fastify'
import libxmljs, { type ValidationError } from 'libxmljs2'

const options = { nonet: true, encoding: 'UTF-8' }

function parse(xml: string) {
  return libxmljs.parseXml(Buffer.from(xml) as unknown as string, options)
}

/** The errors of a document by the published schema of its root element, which is fetched over HTTP. */
export async function faultsByPublishedSchema(app: FastifyInstance, xml: string, base = ''): Promise<readonly ValidationError[]> {
  const document = parse(xml)
  const root = document.root()?.name()
  const response = await app.inject(`${base}/schemas/${root}.xsd`)
  if (response.statusCode !== 200) throw new Error(`/schemas/${root}.xsd answers ${response.statusCode}`)
  document.validate(parse(response.body))
  return document.validationErrors
}
