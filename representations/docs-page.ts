import type { ApiDescription } from './api-description.ts'
import { type DocumentField, documentFields } from './docs-fields.ts'
import { type OperationView, operationViews, type ParameterView, parameterView } from './docs-operations.ts'
import { uris } from './links.ts'

export interface ProblemText {
  readonly status: number
  readonly title: string
}

/** The API description and the titles of its problem types. */
export interface Documentation {
  readonly description: ApiDescription
  readonly problems: Readonly<Record<string, ProblemText>>
}

interface CommonProblem {
  readonly code: string
  readonly status: number
}

interface DocumentView {
  readonly name: string
  readonly id: string
  readonly schema: string
  readonly fields: readonly DocumentField[]
  readonly example: string
}

export interface DocsPage {
  readonly shop: string
  /** The server of the examples. It comes from BASE_URL and not from the Host header, since the page is the same for every host. */
  readonly server: string | undefined
  readonly base: string
  /** The problem types that every request can get, and those that every request with a document can get. */
  readonly common: { readonly all: readonly CommonProblem[]; readonly documents: readonly CommonProblem[] }
  readonly fields: readonly ParameterView[]
  readonly groups: readonly { readonly name: string; readonly text: string; readonly operations: readonly OperationView[] }[]
  readonly documents: readonly DocumentView[]
  readonly problems: readonly (ProblemText & { readonly code: string; readonly href: string })[]
}

/** Documents that clients send: the root element and the name of the JSON schema. */
const requestDocuments: readonly (readonly [root: string, component: string])[] = [
  ['purchase-order', 'PurchaseOrder'],
  ['product', 'ProductInput'],
  ['stock', 'StockInput'],
  ['order-status', 'OrderStatusInput'],
  ['shipment', 'ShipmentInput']
]

const codesOf = ({ answers }: OperationView) => answers.flatMap(({ problems }) => problems)

function commonProblems([first, ...others]: readonly OperationView[]): ReadonlySet<string> {
  return new Set(first ? codesOf(first).filter((code) => others.every((view) => codesOf(view).includes(code))) : [])
}

/** The page describes this problem type once, since every negotiated resource can answer it. */
const negotiation = 'not-acceptable'

function without(common: ReadonlySet<string>, view: OperationView): OperationView {
  const answers = view.answers
    .filter(({ status }) => status !== '304')
    .map((answer) => ({ ...answer, problems: answer.problems.filter((code) => code !== negotiation && !common.has(code)) }))
    .filter(({ text, problems }) => text !== undefined || problems.length > 0)
  return { ...view, answers }
}

/** The content of the page for people. What all operations share is described once. */
export function docsPage({ description, problems }: Documentation, base: string): DocsPage {
  const { components, tags, servers, info } = description
  const uri = uris(base)
  // The operations that only the pages' own forms post to are left out.
  const views = operationViews(description).filter(({ reads }) => reads.length !== 1)
  const all = commonProblems(views.filter(({ tag }) => tag !== 'Operations'))
  const withDocument = commonProblems(views.filter(({ reads }) => reads.length > 0))
  const listed = (codes: Iterable<string>) =>
    [...codes].map((code) => ({ code, status: problems[code]?.status ?? 0 })).sort((a, b) => a.status - b.status)
  const server = servers[0]?.url ?? ''
  return {
    shop: info.title,
    server: server.startsWith('http') ? server : undefined,
    base,
    common: { all: listed(all), documents: listed([...withDocument].filter((code) => !all.has(code))) },
    fields: Object.values(components.parameters)
      .filter((parameter) => parameter.in === 'header')
      .map(parameterView),
    groups: tags.map(({ name, description: text }) => ({
      name,
      text,
      operations: views.filter(({ tag }) => tag === name).map((view) => without(view.reads.length > 0 ? withDocument : all, view))
    })),
    documents: requestDocuments.map(([root, component]) => ({
      name: root,
      id: `document-${root}`,
      schema: uri.schema(root),
      fields: documentFields(components.schemas, component),
      example: String(components.examples[`${root}-input.xml`]?.value ?? '')
    })),
    problems: Object.entries(problems).map(([code, text]) => ({ ...text, code, href: uri.problem(code) }))
  }
}
