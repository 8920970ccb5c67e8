import { formMediaType } from '../schemas/form.ts'
import type { ApiDescription } from './api-description.ts'
import { type DocumentView, documentViews } from './docs-documents.ts'
import { type OperationView, operationViews } from './docs-operations.ts'
import { uris } from './links.ts'

/** The operations of one tag, which have a page of their own. */
export interface DocsGroup {
  readonly name: string
  readonly href: string
  readonly text: string
  readonly operations: readonly OperationView[]
  /** The documents that these operations read. */
  readonly documents: readonly DocumentView[]
}

/** The last segment of the URI of a tag's page. */
export function groupSegment(tag: string): string {
  return tag.toLowerCase()
}

/** The problem types that every request can get, and those that every request with a document can get. */
export interface CommonProblems {
  readonly all: ReadonlySet<string>
  readonly withDocument: ReadonlySet<string>
}

const codesOf = ({ answers }: OperationView) => answers.flatMap(({ problems }) => problems)

function sharedBy([first, ...others]: readonly OperationView[]): ReadonlySet<string> {
  return new Set(first ? codesOf(first).filter((code) => others.every((view) => codesOf(view).includes(code))) : [])
}

/** The first page describes this problem type once, since every negotiated resource can answer it. */
const negotiation = 'not-acceptable'

function without(common: ReadonlySet<string>, view: OperationView): OperationView {
  const answers = view.answers
    .filter(({ status }) => status !== '304')
    .map((answer) => ({ ...answer, problems: answer.problems.filter((code) => code !== negotiation && !common.has(code)) }))
    .filter(({ text, problems }) => text !== undefined || problems.length > 0)
  return { ...view, answers }
}

/** A page describes a parameter of the path where it first occurs. Most paths have the same ones. */
function withoutRepeats(views: readonly OperationView[]): readonly OperationView[] {
  const shown = new Set<string>()
  return views.map((one) => {
    const parameters = one.parameters.filter((parameter) => parameter.in !== 'path' || !shown.has(parameter.name))
    for (const { name } of parameters) shown.add(name)
    return { ...one, parameters }
  })
}

/** All groups in the order of the tags, and the problem types that their operations leave to the first page. */
export function docsGroups(
  description: ApiDescription,
  base: string
): { readonly groups: readonly DocsGroup[]; readonly common: CommonProblems } {
  // The operations that only the pages' own forms post to are left out.
  const views = operationViews(description).filter(({ reads }) => reads.join() !== formMediaType)
  const all = sharedBy(views.filter(({ tag }) => tag !== 'Operations'))
  const withDocument = sharedBy(views.filter(({ reads }) => reads.length > 0))
  const groups = description.tags.map(({ name, description: text }) => {
    const own = views.filter(({ tag }) => tag === name).map((view) => without(view.reads.length > 0 ? withDocument : all, view))
    return {
      name,
      href: uris(base).docsGroup(groupSegment(name)),
      text,
      operations: withoutRepeats(own),
      documents: documentViews(own, description, base)
    }
  })
  return { groups, common: { all, withDocument } }
}
