import type { ApiDescription } from './api-description.ts'
import { exampleOf } from './docs-documents.ts'
import { type DocsGroup, docsGroups } from './docs-groups.ts'
import { type ParameterView, parameterView } from './docs-operations.ts'
import { uris } from './links.ts'

export interface ProblemText {
  readonly status: number
  readonly title: string
}

/** The API description and the titles of its problem types. */
export interface Documentation {
  readonly description: ApiDescription
  readonly problems: Readonly<Record<string, ProblemText>>
  /** How every key begins. */
  readonly keyPrefix: string
}

/** The API description, and the tag of the operations that a page is about. */
export interface GroupDocumentation {
  readonly description: ApiDescription
  readonly tag: string
}

interface CommonProblem {
  readonly code: string
  readonly status: number
}

/** The first page: what holds for every request, and where each operation is described. */
export interface DocsPage {
  /** The server of the examples. It comes from BASE_URL and not from the Host header, since the page is the same for every host. */
  readonly server: string | undefined
  readonly base: string
  readonly keyPrefix: string
  /** The document of the first order. */
  readonly example: string | undefined
  readonly common: { readonly all: readonly CommonProblem[]; readonly documents: readonly CommonProblem[] }
  readonly fields: readonly ParameterView[]
  readonly groups: readonly DocsGroup[]
  readonly problems: readonly (ProblemText & { readonly code: string; readonly href: string })[]
}

export function docsPage({ description, problems, keyPrefix }: Documentation, base: string): DocsPage {
  const { components, servers } = description
  const { groups, common } = docsGroups(description, base)
  const listed = (codes: Iterable<string>) =>
    [...codes].map((code) => ({ code, status: problems[code]?.status ?? 0 })).sort((a, b) => a.status - b.status)
  const server = servers[0]?.url ?? ''
  return {
    server: server.startsWith('http') ? server : undefined,
    base,
    keyPrefix,
    example: exampleOf('purchase-order', components),
    common: { all: listed(common.all), documents: listed([...common.withDocument].filter((code) => !common.all.has(code))) },
    fields: Object.values(components.parameters)
      .filter((parameter) => parameter.in === 'header')
      .map(parameterView),
    groups,
    problems: Object.entries(problems).map(([code, text]) => ({ ...text, code, href: uris(base).problem(code) }))
  }
}

/** The page of one group, with the names of all others for its navigation. */
export interface DocsGroupPage {
  readonly groups: readonly DocsGroup[]
  readonly group: DocsGroup | undefined
}

export function docsGroupPage({ description, tag }: GroupDocumentation, base: string): DocsGroupPage {
  const { groups } = docsGroups(description, base)
  return { groups, group: groups.find(({ name }) => name === tag) }
}
