import { type Element, element } from '../schemas/element.ts'

function makeUris(base: string) {
  return {
    home: `${base}/`,
    products: `${base}/products`,
    catalogue: `${base}/catalogue`,
    placeOrder: `${base}/order`,
    orders: `${base}/orders`,
    events: `${base}/events`,
    session: `${base}/session`,
    openapi: `${base}/openapi.json`,
    docs: `${base}/docs`,
    docsGroup: (group: string) => `${base}/docs/${group}`,
    product: (id: string) => `${base}/product/${id}`,
    stock: (productId: string) => `${base}/product/${productId}/stock`,
    order: (id: string) => `${base}/order/${id}`,
    orderStatus: (id: string) => `${base}/order/${id}/status`,
    shipments: (orderId: string) => `${base}/order/${orderId}/shipments`,
    shipment: (orderId: string, number: number) => `${base}/order/${orderId}/shipment/${number}`,
    orderDocument: (id: string) => `${base}/order/${id}/document`,
    orderResponse: (id: string) => `${base}/order/${id}/response`,
    webhooks: `${base}/webhooks`,
    webhook: (id: string) => `${base}/webhook/${id}`,
    deliveries: (webhookId: string) => `${base}/webhook/${webhookId}/deliveries`,
    webhookSecret: (id: string) => `${base}/webhook/${id}/secret`,
    schema: (name: string) => `${base}/schemas/${name}.xsd`,
    problem: (code: string) => `${base}/problems/${code}`
  }
}

let known: { readonly base: string; readonly uris: ReturnType<typeof makeUris> } | undefined

/** Every URI of the service, under a base path. Ids need no escaping: they have only characters that a path segment allows. */
export function uris(base: string): ReturnType<typeof makeUris> {
  // The URIs are kept, because a service has one base path and every product of a page asks for them.
  if (known?.base !== base) known = { base, uris: makeUris(base) }
  return known.uris
}

export interface Link {
  readonly rel: string
  readonly href: string
  /** The method to use, if it is not GET. */
  readonly method?: string
  readonly title?: string
}

export function linkElement({ rel, href, method, title }: Link): Element {
  return element('link', { rel, href, method, title })
}

/** An element for a list or an event. Of its links it has only the one to itself. */
export function linkedToItself({ children = [], ...rest }: Element): Element {
  return { ...rest, children: children.filter(({ name, attributes }) => name !== 'link' || attributes?.['rel'] === 'self') }
}
