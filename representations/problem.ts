import type { LocatedFault } from '../schemas/document.ts'
import { element, textElement } from '../schemas/element.ts'
import { loadXsd } from '../schemas/vocabulary.ts'
import { writeXml } from '../schemas/xml.ts'
import { type Context, page, type Representation, type Representations, variantsOf } from './representation.ts'
import { signedOutDetail, signInWords } from './sign-in.ts'
import { renderPage } from './views.ts'

export const problemXsd = loadXsd('problem')

/** A problem document (RFC 9457) with the members that this service adds. */
export interface ProblemDocument {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  /** Which URIs to try next. XML and JSON append it to the detail; a page has links instead. */
  readonly advice?: string
  readonly instance: string
  /** The URI of the order that the request conflicts with. */
  readonly order?: string
  /** Media types, methods or parameters that can be used instead. */
  readonly available?: readonly string[]
  readonly errors?: readonly LocatedFault[]
}

/** Whether a problem says that the caller may not see the resource. Then no page may show it beside the problem. */
export function isHidden({ status }: ProblemDocument): boolean {
  return [401, 403, 404].includes(status)
}

function signInPage(problem: ProblemDocument, { isFormPost }: Context) {
  const { title, detail: lead } = signInWords(problem.detail)
  return { title: isFormPost ? title : 'Sign in to see this', lead, maySignOut: problem.detail === signedOutDetail }
}

function writeProblemPage(problem: ProblemDocument, context: Context): string {
  const isExplanation = problem.type === problem.instance
  const { title, ...words } =
    problem.status === 401 && !isExplanation ? signInPage(problem, context) : { title: problem.title, lead: problem.detail }
  return renderPage('problem', title, { problem, ...words, isExplanation }, context)
}

const wholeDetail = ({ detail, advice }: ProblemDocument) => (advice === undefined ? detail : `${detail} ${advice}`)

function writeProblemXml(problem: ProblemDocument): string {
  return writeXml(
    element('problem', { xmlns: 'urn:ietf:rfc:7807' }, [
      element('type', {}, problem.type),
      element('title', {}, problem.title),
      element('status', {}, String(problem.status)),
      element('detail', {}, wholeDetail(problem)),
      element('instance', {}, problem.instance),
      textElement('order', problem.order),
      problem.available &&
        element(
          'available',
          {},
          problem.available.map((one) => element('i', {}, one))
        ),
      problem.errors &&
        element(
          'errors',
          {},
          problem.errors.map(({ detail, code, line, path, item }) =>
            element('i', {}, [
              element('detail', {}, detail),
              textElement('code', code),
              textElement('line', line === undefined ? undefined : String(line)),
              textElement('path', path),
              textElement('item', item)
            ])
          )
        )
    ])
  )
}

function writeProblemJson(problem: ProblemDocument): string {
  const { errors, advice: _, ...others } = problem
  const listed = errors?.map(({ detail, code, line, path, item }) => ({ detail, code, line, path, item }))
  return `${JSON.stringify({ ...others, detail: wholeDetail(problem), errors: listed }, null, 2)}\n`
}

/** The media types of problems have no charset parameter: XML declares its own encoding, and JSON is always UTF-8. */
export const problemRepresentations: readonly Representation<ProblemDocument>[] = [
  { mediaType: 'application/problem+xml', contentType: 'application/problem+xml', suffix: 'xml', write: writeProblemXml },
  page(writeProblemPage),
  { mediaType: 'application/problem+json', contentType: 'application/problem+json', suffix: 'json', write: writeProblemJson }
]

/** The explanation of a problem type uses the elements of a problem, but it is not one: its media type is `application/xml` and so on. */
export const problemTypeRepresentations: Representations<ProblemDocument> = {
  variants: variantsOf({ xml: { write: writeProblemXml }, html: { write: writeProblemPage }, json: { write: writeProblemJson } }),
  validators: ({ type }) => ({ version: type.slice(type.lastIndexOf('/') + 1) }),
  schema: 'problem'
}
