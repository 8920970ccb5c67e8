import { hasScope } from '../domain/caller.ts'
import { plain } from '../domain/money.ts'
import type { Product, Stock } from '../domain/product.ts'
import { unitsNamed } from '../domain/unit-names.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { element } from '../schemas/element.ts'
import { stockXsd } from '../schemas/stock.ts'
import { childType, rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import type { Notice } from './notice.ts'
import { instant, makeRepresentations, pageOf, versionText } from './representation.ts'
import { fieldOf, placeErrors } from './views/fields.ts'
import { renderPage } from './views.ts'

/** A product's stock, and what only its page shows. */
export interface ShownStock extends Stock {
  readonly product?: Product
  readonly notice?: Notice
  /** The number that was entered in a form that was refused. */
  readonly typed?: string
  /** The customer who opened the refused form, if another one (or nobody) was signed in when it was sent. */
  readonly customer?: string
  readonly faults?: readonly LocatedFault[]
}

function stockLinks(stock: Stock, base: string): readonly Link[] {
  const uri = uris(base)
  return [
    { rel: 'self', href: uri.stock(stock.productId) },
    { rel: 'product', href: uri.product(stock.productId) }
  ]
}

const type = rootType(stockXsd, 'stock')
const onHandType = childType(type, 'on-hand')

export const stockRepresentations = makeRepresentations<ShownStock>({
  type,
  element: (stock, { base }) =>
    element('stock', { product: stock.productId }, [
      element('on-hand', {}, stock.onHand),
      element('modified-at', {}, instant(stock.modifiedAt)),
      ...stockLinks(stock, base).map(linkElement)
    ]),
  html: (stock, context) => {
    const { product } = stock
    const errors = placeErrors(stock.faults ?? [], () => onHandType.name)
    const field = fieldOf(onHandType, onHandType.name, new Map([[onHandType.name, stock.typed ?? plain(stock.onHand)]]), errors, {
      required: '',
      autocomplete: 'off'
    })
    return renderPage(
      'stock',
      product ? ['Stock of ', product.name, ` (${product.id})`] : `Stock of ${stock.productId}`,
      {
        stock,
        field: product ? { ...field, hint: `In ${unitsNamed(product.unit)}` } : field,
        notice: stock.notice,
        customer: stock.customer,
        mayWrite: hasScope(context.caller, 'catalogue') || stock.typed !== undefined
      },
      context
    )
  },
  isDated: true,
  // For callers who may set the stock, the page has a form: it is another representation and needs its own entity tag.
  validators: ({ version, modifiedAt, product }, { caller }) => {
    const { page = '' } = hasScope(caller, 'catalogue') ? pageOf(caller) : {}
    return {
      version: versionText(version, modifiedAt),
      modifiedAt,
      page: product ? `${page}p${versionText(product.version, product.modifiedAt)}` : page
    }
  },
  schema: 'stock'
})
