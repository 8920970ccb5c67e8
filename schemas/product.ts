import { defined } from '../domain/defined.ts'
import { type Decimal, decimal } from '../domain/money.ts'
import { isGtin, isImageUri, type ProductDraft, wrongCheckDigit } from '../domain/product.ts'
import { piece } from '../domain/units.ts'
import type { DocumentSchema, Report } from './document.ts'
import { child, childrenOf, collapse, type Element, textOf, tokenOf } from './element.ts'
import { childType, loadXsd, mostCharacters, rootType } from './vocabulary.ts'

export const productXsd = loadXsd('product')

/** The most characters of a category. */
export const mostCategoryCharacters = mostCharacters(childType(rootType(productXsd, 'product'), 'category'))

export interface ProductDocument {
  /** The product's id, if the document has one. */
  readonly id?: string
  readonly draft: ProductDraft
}

export const product: DocumentSchema<ProductDocument> = {
  name: 'product',
  xsd: productXsd,
  roots: ['product'],
  read: readProduct
}

/** Reads a valid `product` element, which may be part of a catalogue. */
export function readProduct(root: Element, report: Report): ProductDocument {
  const id = root.attributes?.['id']
  const gtin = tokenOf(root, 'gtin')
  if (gtin !== undefined && !isGtin(gtin)) report(['gtin'], wrongCheckDigit(gtin), 'wrong-check-digit')
  const price = child(root, 'price')
  const currency = price?.attributes?.['currency']
  return {
    ...(id === undefined ? {} : { id: collapse(id) }),
    draft: defined({
      name: textOf(root, 'name') ?? '',
      description: textOf(root, 'description'),
      price: decimal(price?.text ?? ''),
      currency: currency === undefined ? undefined : collapse(currency),
      unit: tokenOf(root, 'unit') ?? piece,
      minimumQuantity: decimalOf(root, 'minimum-quantity'),
      quantityStep: decimalOf(root, 'quantity-step'),
      gtin,
      categories: childrenOf(root, 'category').map((category) => category.text ?? ''),
      images: childrenOf(root, 'image').map((image, i) => readImage(image, i + 1, report)),
      backorder: tokenOf(root, 'backorder') === 'allowed',
      onHand: decimalOf(root, 'on-hand')
    })
  }
}

function decimalOf(parent: Element, name: string): Decimal | undefined {
  const text = tokenOf(parent, name)
  return text === undefined ? undefined : decimal(text)
}

/** This rule is not in the XSD: images that were stored before the rule existed must stay valid in responses. */
function readImage(image: Element, position: number, report: Report): string {
  const href = collapse(image.attributes?.['href'] ?? '')
  if (!isImageUri(href)) {
    const detail = `An image must be an https URL, or a path that starts with one /, not ${JSON.stringify(href.slice(0, 100))}.`
    report(['image', position], detail, 'wrong-image')
  }
  return href
}
