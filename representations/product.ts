import { hasSearchWord, mostSearchCharacters, type Product } from '../domain/product.ts'
import { weightOf } from '../domain/product-list.ts'
import { type Element, element, textElement } from '../schemas/element.ts'
import { productXsd } from '../schemas/product.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { isLaterPage, makeListRepresentations } from './list.ts'
import { type Context, instant, makeRepresentations, type Validators, versionText } from './representation.ts'
import { renderPage, renderPart } from './views.ts'

function productLinks(product: Product, base: string): readonly Link[] {
  const uri = uris(base)
  return [
    { rel: 'self', href: uri.product(product.id) },
    { rel: 'collection', href: uri.products },
    { rel: 'stock', href: uri.stock(product.id) },
    { rel: 'order', href: uri.placeOrder }
  ]
}

/** The elements that the seller writes, which come first in the product's document. */
export function sellerElements(product: Omit<Product, 'id' | 'version' | 'availability' | 'modifiedAt'>): (Element | undefined)[] {
  return [
    element('name', {}, product.name),
    textElement('description', product.description),
    element('price', { currency: product.currency }, product.price),
    element('unit', {}, product.unit),
    textElement('minimum-quantity', product.minimumQuantity),
    textElement('quantity-step', product.quantityStep),
    textElement('gtin', product.gtin),
    ...product.categories.map((category) => element('category', {}, category)),
    ...product.images.map((href) => element('image', { href })),
    element('backorder', {}, product.backorder ? 'allowed' : 'none')
  ]
}

export function productElement(product: Product, { base }: Pick<Context, 'base'>): Element {
  return element('product', { id: product.id, version: String(product.version) }, [
    ...sellerElements(product),
    element('availability', {}, product.availability),
    element('modified-at', {}, instant(product.modifiedAt)),
    ...productLinks(product, base).map(linkElement)
  ])
}

export const productRepresentations = makeRepresentations<Product>({
  type: rootType(productXsd, 'product'),
  element: productElement,
  html: (product, context) => renderPage('product', ['', product.name], { product }, context),
  isDated: true,
  validators: ({ version, modifiedAt }) => ({ version: versionText(version, modifiedAt), modifiedAt }),
  schema: 'product'
})

export interface ProductPage {
  readonly products: readonly Product[]
  readonly links: readonly Link[]
  /** The main categories of the whole catalogue; absent when the page does not show them. */
  readonly categories?: readonly string[] | undefined
  readonly query: { readonly q?: string | undefined; readonly category?: string | undefined; readonly updatedSince?: string | undefined }
  /** Absent when the page's content may change without a new version. */
  readonly validators: Validators | undefined
}

/** The most categories that a page of products offers. A longer list is of no use to a person. */
export const mostCategories = 60

/** The title of a list of products: what was searched, and where. Browsers show it in tabs and in the history. */
function titleOf({ q = '', category }: ProductPage['query']): readonly string[] {
  const place = category ? ['Products in ', category] : ['Products', '']
  return hasSearchWord(q) ? [...place, ' with “', q, '”'] : place
}

function dataOf(page: ProductPage, rows: string, { self }: Context) {
  return { ...page, rows, mostCategories, mostSearchCharacters, isLater: isLaterPage(self), isSearch: hasSearchWord(page.query.q ?? '') }
}

export const productsRepresentations = makeListRepresentations<ProductPage, Product>({
  type: rootType(productXsd, 'products'),
  items: ({ products }) => products,
  element: productElement,
  weight: weightOf,
  html: {
    rows: (products, _, context) => renderPart('product-rows', { products }, context),
    page: (page, rows, context) => renderPage('products', titleOf(page.query), dataOf(page, rows, context), context)
  },
  isDated: true,
  validators: ({ validators }) => validators,
  schema: 'products'
})
