import { hash } from 'node:crypto'
import type { ApiDescription } from './api-description.ts'
import { type Documentation, docsGroupPage, docsPage, type GroupDocumentation } from './docs-page.ts'
import { page, type Representations } from './representation.ts'
import { renderPage } from './views.ts'

const digests = new WeakMap<ApiDescription, string>()

/** The description changes only with the release and the settings, so a digest of it serves as its version. */
function digestOf(description: ApiDescription): string {
  const digest = digests.get(description) ?? hash('sha256', JSON.stringify(description)).slice(0, 16)
  digests.set(description, digest)
  return digest
}

/** The API description for machines. */
export const openApiRepresentations: Representations<ApiDescription> = {
  variants: [
    {
      mediaType: 'application/json',
      contentType: 'application/json; charset=utf-8',
      suffix: 'json',
      write: (description) => `${JSON.stringify(description)}\n`
    }
  ],
  validators: (description) => ({ version: digestOf(description) })
}

/** The API description for people. */
export const docsRepresentations: Representations<Documentation> = {
  variants: [page((documentation, context) => renderPage('docs', 'For developers', docsPage(documentation, context.base), context))],
  validators: ({ description }) => ({ version: digestOf(description) })
}

/** The operations of one tag, for people. */
export const docsGroupRepresentations: Representations<GroupDocumentation> = {
  variants: [
    page((documentation, context) =>
      renderPage('docs-group', `For developers: ${documentation.tag}`, docsGroupPage(documentation, context.base), context)
    )
  ],
  validators: ({ description }) => ({ version: digestOf(description) })
}
