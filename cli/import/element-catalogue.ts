import type { LocatedFault } from '../../schemas/document.ts'
import { type Element, element, elementAt, type Place } from '../../schemas/element.ts'
import { writeXml } from '../../schemas/xml.ts'
import { ownXml } from '../../xml/gate.ts'
import type { Spell } from '../../xml/messages.ts'
import type { CatalogueDocument } from './catalogue-document.ts'
import type { Entry } from './entry.ts'

/** A row has no elements: their names are those of its columns. */
const inRow: Spell = (name) => (name === 'product' ? 'the row' : name)

/** Writes a fault that `inRow` spells for the reader of a table, who knows the columns and not their elements and attributes. */
function ofRow(detail: string, column: string | undefined): Pick<LocatedFault, 'detail' | 'path'> {
  const [subject = '', attribute] = /^(?:The attribute "([\w-]+)" of )?(?:the row|[\w-]+) (?=is |has )/.exec(detail) ?? []
  const path = attribute === undefined ? column : attribute === 'href' ? 'image' : attribute
  if (path === undefined || subject === '') return { detail: detail.replace(/^the row/, 'The row'), ...(column ? { path: column } : {}) }
  return { detail: `The value ${detail.slice(subject.length)}`, path }
}

/** Writes products that are not XML as an XML catalogue for validation. The `origin` of each element is its place in the file. */
export function catalogueOfElements(entries: readonly Entry[]): CatalogueDocument {
  const roots = entries.flatMap(({ root }) => root ?? [])
  const catalogue = element('catalogue', {}, roots)
  const isRows = entries.every(({ isRow }) => isRow)
  return {
    parsed: ownXml(writeXml(catalogue)),
    ...(isRows ? { spell: inRow } : {}),
    roots: () => roots,
    trace: ({ detail, path = '' }) => {
      const place = placeOf(path)
      const index = Number(place[1] ?? 1) - 1
      const { path: origin } = originOf(catalogue, place)
      const line = entries[index]?.line ?? 0
      return { index, fault: isRows ? { line, ...ofRow(detail, origin) } : { detail, line, ...(origin ? { path: origin } : {}) } }
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
