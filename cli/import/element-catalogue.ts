import { type Element, element, elementAt, type Place } from '../../schemas/element.ts'
import { writeXml } from '../../schemas/xml.ts'
import { ownXml } from '../../xml/gate.ts'
import type { CatalogueDocument } from './catalogue-document.ts'
import type { Entry } from './entry.ts'

/** Writes products that are not XML as an XML catalogue for validation. The `origin` of each element is its place in the file. */
export function catalogueOfElements(entries: readonly Entry[]): CatalogueDocument {
  const roots = entries.flatMap(({ root }) => root ?? [])
  const catalogue = element('catalogue', {}, roots)
  return {
    parsed: ownXml(writeXml(catalogue)),
    roots: () => roots,
    trace: ({ detail, path = '' }) => {
      const place = placeOf(path)
      const index = Number(place[1] ?? 1) - 1
      return { index, fault: { detail, line: entries[index]?.line ?? 0, ...originOf(catalogue, place) } }
    },
    locate: (index, at) => {
      const root = roots[index]
      return root ? originOf(root, at) : {}
    }
  }
}

function originOf(root: Element, at: Place): { readonly path?: string } {
  const { origin } = elementAt(root, at)
  return origin ? { path: origin } : {}
}

/** Turns a path such as `/catalogue/product[2]/price` into a place. */
function placeOf(path: string): Place {
  const [, ...steps] = path.split('/').slice(1)
  return steps.flatMap((step) => {
    const [, name = '', position = '1'] = /^([^[]*)(?:\[(\d+)\])?$/.exec(step) ?? []
    return [name, Number(position)]
  })
}
