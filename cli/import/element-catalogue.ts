import { childrenOf, type Element, element } from '../../schemas/element.ts'
import { writeXml } from '../../schemas/xml.ts'
import { ownXml } from '../../xml/gate.ts'
import type { Entry } from './entry.ts'
import type { CatalogueDocument } from './validator.ts'

/** Writes products that are not XML as an XML catalogue for validation. The `origin` of each element is its place in the file. */
export function catalogueOfElements(entries: readonly Entry[]): CatalogueDocument {
  const roots = entries.flatMap(({ root }) => root ?? [])
  const catalogue = element('catalogue', {}, roots)
  return {
    parsed: ownXml(writeXml(catalogue)),
    roots: () => roots,
    trace: ({ detail, path = '' }) => {
      const [, step = '', ...steps] = path.split('/').slice(1)
      const { position } = parseStep(step)
      const root = roots[position - 1]
      const line = entries[position - 1]?.line ?? 0
      return { index: position - 1, fault: { detail, line, ...placeOf(root && follow(root, steps)) } }
    },
    locate: placeOf
  }
}

function placeOf(found: Element | undefined): { readonly path?: string } {
  return found?.origin ? { path: found.origin } : {}
}

/** Parses a step of a path such as `/catalogue/product[2]/price`. */
function parseStep(step: string): { name: string; position: number } {
  const [, name = '', position = '1'] = /^([^[]*)(?:\[(\d+)\])?$/.exec(step) ?? []
  return { name, position: Number(position) }
}

function follow(root: Element, steps: readonly string[]): Element {
  return steps.reduce((current, step) => {
    const { name, position } = parseStep(step)
    return childrenOf(current, name)[position - 1] ?? current
  }, root)
}
