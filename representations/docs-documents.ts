import type { ApiDescription } from './api-description.ts'
import { type DocumentField, documentFields } from './docs-fields.ts'
import type { OperationView } from './docs-operations.ts'
import { uris } from './links.ts'

/** A document that clients send. */
export interface DocumentView {
  /** The name of its root element. */
  readonly name: string
  readonly id: string
  readonly schema: string
  readonly fields: readonly DocumentField[]
  readonly example: string | undefined
}

/** An order that a client sends back has the elements of a purchase order, so only the purchase order is shown. */
const sameAsAnother: ReadonlySet<string> = new Set(['OrderInput'])

interface Component {
  readonly xml?: { readonly name?: string }
}

/** The documents that some operations read, each once, in the order in which the operations first read them. */
export function documentViews(operations: readonly OperationView[], { components }: ApiDescription, base: string): readonly DocumentView[] {
  const names = new Set(operations.flatMap(({ documents }) => documents).filter((name) => !sameAsAnother.has(name)))
  return [...names].map((component) => {
    const root = (components.schemas[component] as Component | undefined)?.xml?.name ?? component
    return {
      name: root,
      id: `document-${root}`,
      schema: uris(base).schema(root),
      fields: documentFields(components.schemas, component),
      example: exampleOf(root, components)
    }
  })
}

export function exampleOf(root: string, { examples }: ApiDescription['components']): string | undefined {
  const value = examples[`${root}-input.xml`]?.value
  return typeof value === 'string' ? value : undefined
}
