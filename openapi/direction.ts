/**
 * One document serves both ways: what GET gave can be edited and PUT. The XSD calls optional what nobody needs to send;
 * these say, by path from each root, what the service itself does about it.
 */
interface Direction {
  /** Always in what the service sends. */
  readonly sent: readonly string[]
  /** The server's to say: ignored on the way in. */
  readonly managed: readonly string[]
  /** On the way in only. */
  readonly unsent: readonly string[]
}

const words = (text: string) => text.trim().split(/\s+/)

const directions: Readonly<Record<string, Direction>> = {
  order: {
    sent: words(`id version status placed-at modified-at currency total total/currency
      item/line item/product-id item/product-id/href item/name item/quantity/unit item/unit-price item/line-total`),
    managed: words('id version status placed-at modified-at customer total link item/line item/name item/line-total item/product-id/href'),
    unsent: ['item/gtin']
  },
  product: {
    sent: words('id version unit price/currency backorder availability modified-at'),
    managed: words('version availability modified-at link'),
    unsent: ['on-hand']
  },
  stock: { sent: words('product modified-at'), managed: words('product modified-at link'), unsent: [] },
  'order-status': { sent: words('order modified-at'), managed: words('order modified-at link'), unsent: [] }
}

const straight: Direction = { sent: [], managed: [], unsent: [] }

/** The root whose rules hold for an element of this name in a list of them. */
export function hasDirection(name: string): boolean {
  return Object.hasOwn(directions, name)
}

export function directionOf(root: string): Direction {
  return directions[root] ?? straight
}
