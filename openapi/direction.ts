/**
 * Requests and responses share one schema, so that a document from GET can be edited and PUT. The XSD makes everything
 * optional that clients may leave out. These paths from the root add what is different in each direction.
 */
interface DirectionRules {
  /** Always present in responses. */
  readonly alwaysSent: readonly string[]
  /** Set by the server, and ignored in requests. */
  readonly managed: readonly string[]
  /** In requests only. */
  readonly requestOnly: readonly string[]
  /** Arrays that a response may lack, although a repeatable element is usually there as an empty array. */
  readonly maybeAbsent?: readonly string[]
}

const words = (text: string) => text.trim().split(/\s+/)

const directions: Readonly<Record<string, DirectionRules>> = {
  order: {
    alwaysSent: words(`id version status placed-at modified-at currency total total/currency
      item/line item/product-id item/product-id/href item/name item/quantity/unit item/unit-price item/line-total`),
    managed: words(`id version status placed-at modified-at customer expected-delivery-date seller-note total link item/line item/name
      item/line-total item/product-id/href item/ordered-quantity item/reason item/shipped-quantity item/expected-delivery-date
      item/seller-note`),
    requestOnly: ['item/gtin']
  },
  // An order in a list is a summary or the whole order.
  'orders/order': {
    alwaysSent: words(
      'total/currency item/line item/product-id item/product-id/href item/name item/quantity/unit item/unit-price item/line-total'
    ),
    managed: [],
    requestOnly: ['item/gtin'],
    maybeAbsent: words('note extension item')
  },
  product: {
    alwaysSent: words('id version unit price/currency backorder availability modified-at'),
    managed: words('version availability modified-at link'),
    requestOnly: ['on-hand']
  },
  stock: { alwaysSent: words('product modified-at'), managed: words('product modified-at link'), requestOnly: [] },
  shipment: {
    alwaysSent: words('order number shipped-at item/product-id item/product-id/href item/name item/quantity/unit'),
    managed: words('order number link item/product-id item/name'),
    requestOnly: []
  },
  'order-status': { alwaysSent: words('order modified-at'), managed: words('order modified-at link'), requestOnly: [] },
  webhook: {
    alwaysSent: words('id version media-type status created-at modified-at'),
    managed: words('id version reason secret created-at modified-at link'),
    requestOnly: []
  },
  delivery: {
    alwaysSent: words('attempt at duration-ms'),
    managed: words('type attempt at status duration-ms failure'),
    requestOnly: []
  }
}

const symmetric: DirectionRules = { alwaysSent: [], managed: [], requestOnly: [] }

/** Whether elements of this name, also inside a list, have direction rules of their own. */
export function hasDirection(name: string): boolean {
  return Object.hasOwn(directions, name)
}

export function directionOf(root: string): DirectionRules {
  return directions[root] ?? symmetric
}
