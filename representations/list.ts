import { type Element, element } from '../schemas/element.ts'
import { camelCase, toJson } from '../schemas/json.ts'
import type { ElementType } from '../schemas/vocabulary.ts'
import { writeElement, writeXml } from '../schemas/xml.ts'
import { type Link, linkElement } from './links.ts'
import { inPieces, type Pieces } from './pieces.ts'
import {
  type Context,
  type Representations,
  type Represented,
  variantsOf,
  type WritableRepresentations,
  writerInPieces
} from './representation.ts'

/** Whether a URI asks for a page after the first one. */
export function isLaterPage(uri: string): boolean {
  return /^[^?]*\?(?:.*&)?after=/.test(uri)
}

/** A page of a list. */
interface ListPage {
  readonly links: readonly Link[]
}

interface RepresentedList<T extends ListPage, Item> extends Omit<Represented<T>, 'type' | 'element' | 'html' | 'links'> {
  /** The type of the root element, or a function that gives it for a page. */
  readonly type: ElementType | ((page: T) => ElementType)
  readonly items: (page: T) => readonly Item[]
  readonly element: (item: Item, context: Context) => Element
  /** The number of characters of an item, for lists whose items can be long. */
  readonly weight?: (item: Item) => number
  readonly html: {
    /** The rows of some of the items in a table. */
    readonly rows: (items: readonly Item[], page: T, context: Context) => string
    /** @param rows all rows */
    readonly page: (page: T, rows: string, context: Context) => string
  }
}

/**
 * Makes the representations of a list. A page can have a thousand items, so it is written in pieces. In the schema of the list, the
 * items come first.
 */
export function makeListRepresentations<T extends ListPage, Item>(
  list: RepresentedList<T, Item> & { readonly name: string }
): WritableRepresentations<T>
export function makeListRepresentations<T extends ListPage, Item>(list: RepresentedList<T, Item>): Representations<T>
export function makeListRepresentations<T extends ListPage, Item>(list: RepresentedList<T, Item>): Representations<T> {
  const { type, items, element: itemElement, weight, html, ...rest } = list
  const typeOf = (page: T) => (typeof type === 'function' ? type(page) : type)
  const withLinks = ({ links }: T, { name }: ElementType) => element(name, {}, links.map(linkElement))

  function* writeXmlOf(page: T, context: Context): Pieces<string> {
    const write = (item: Item) => `${writeElement(itemElement(item, context), '  ')}\n`
    const written = yield* inPieces(items(page), (some) => some.map(write).join(''), weight)
    return writeXml(withLinks(page, typeOf(page)), written.join(''))
  }

  function* writeJsonOf(page: T, context: Context): Pieces<string> {
    const type = typeOf(page)
    const [itemType] = type.children
    if (!itemType) throw new Error(`the schema of ${type.name} has no items`)
    const write = (item: Item) => toJson(itemElement(item, context), itemType)
    const written = yield* inPieces(items(page), (some) => some.map(write), weight)
    const whole = { ...(toJson(withLinks(page, type), type) as object), [camelCase(itemType.name)]: written.flat() }
    return `${JSON.stringify(whole, null, 2)}\n`
  }

  function* writeHtmlOf(page: T, context: Context): Pieces<string> {
    const rows = yield* inPieces(items(page), (some) => html.rows(some, page, context), weight)
    return html.page(page, rows.join(''), context)
  }

  const variants = variantsOf({
    xml: writerInPieces(writeXmlOf),
    html: writerInPieces(writeHtmlOf),
    json: writerInPieces(writeJsonOf)
  })
  return { variants, links: ({ links }) => links, ...rest }
}
