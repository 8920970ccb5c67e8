import type { ApiDescription } from './api-description.ts'
import { type DocumentField, documentFields } from './docs-fields.ts'
import { type OperationView, operationViews, type ParameterView, parameterView } from './docs-operations.ts'
import { uris } from './links.ts'

export interface ProblemText {
  readonly status: number
  readonly title: string
}

/** The API's description, with what each of its problem types means. */
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
  /** Where the examples go, where the settings tell it: the page is the same for every host that it is asked of. */
  readonly server: string | undefined
  readonly base: string
  /** The problem types that any request can be answered with, and any that sends a document. */
  readonly common: { readonly all: readonly CommonProblem[]; readonly documents: readonly CommonProblem[] }
  readonly fields: readonly ParameterView[]
  readonly groups: readonly { readonly name: string; readonly text: string; readonly operations: readonly OperationView[] }[]
  readonly documents: readonly DocumentView[]
  readonly problems: readonly (ProblemText & { readonly code: string; readonly href: string })[]
}

/** Documents that clients write, by root element and the name of their JSON schema. */
const written: readonly (readonly [root: string, component: string])[] = [
  ['purchase-order', 'PurchaseOrder'],
  ['product', 'ProductInput'],
  ['stock', 'StockInput'],
  ['order-status', 'OrderStatusInput']
]

const codesOf = ({ answers }: OperationView) => answers.flatMap(({ problems }) => problems)

function commonProblems([first, ...others]: readonly OperationView[]): ReadonlySet<string> {
  return new Set(first ? codesOf(first).filter((code) => others.every((view) => codesOf(view).includes(code))) : [])
}

/** Said once, with when it comes: it is answered wherever there is something to choose. */
const negotiation = 'not-acceptable'

function without(common: ReadonlySet<string>, view: OperationView): OperationView {
  const answers = view.answers
    .filter(({ status }) => status !== '304')
    .map((answer) => ({ ...answer, problems: answer.problems.filter((code) => code !== negotiation && !common.has(code)) }))
    .filter(({ text, problems }) => text !== undefined || problems.length > 0)
  return { ...view, answers }
}

/** What the page for people shows: what is the same everywhere is said once. */
export function docsPage({ description, problems }: Documentation, base: string): DocsPage {
  const { components, tags, servers, info } = description
  const uri = uris(base)
  // What the forms of pages post is the pages' own affair.
  const views = operationViews(description).filter(({ reads }) => reads.length !== 1)
  const all = commonProblems(views.filter(({ tag }) => tag !== 'Operations'))
  const whereRead = commonProblems(views.filter(({ reads }) => reads.length > 0))
  const listed = (codes: Iterable<string>) =>
    [...codes].map((code) => ({ code, status: problems[code]?.status ?? 0 })).sort((a, b) => a.status - b.status)
  const server = servers[0]?.url ?? ''
  return {
    shop: info.title,
    server: server.startsWith('http') ? server : undefined,
    base,
    common: { all: listed(all), documents: listed([...whereRead].filter((code) => !all.has(code))) },
    fields: Object.values(components.parameters)
      .filter((parameter) => parameter.in === 'header')
      .map(parameterView),
    groups: tags.map(({ name, description: text }) => ({
      name,
      text,
      operations: views.filter(({ tag }) => tag === name).map((view) => without(view.reads.length > 0 ? whereRead : all, view))
    })),
    documents: written.map(([root, component]) => ({
      name: root,
      id: `document-${root}`,
      schema: uri.schema(root),
      fields: documentFields(components.schemas, component),
      example: String(components.examples[`${root}-input.xml`]?.value ?? '')
    })),
    problems: Object.entries(problems).map(([code, text]) => ({ ...text, code, href: uri.problem(code) }))
  }
}
