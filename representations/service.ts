import { mostSearchCharacters } from '../domain/product.ts'
import { element } from '../schemas/element.ts'
import { loadXsd, rootType } from '../schemas/vocabulary.ts'
import { type Link, linkElement, uris } from './links.ts'
import { makeRepresentations } from './representation.ts'
import { renderPage } from './views.ts'

export const serviceXsd = loadXsd('service')

export interface Service {
  readonly name: string
  readonly currency: string
}

function serviceLinks(base: string): readonly Link[] {
  const uri = uris(base)
  return [
    { rel: 'self', href: uri.home },
    { rel: 'products', href: uri.products, title: 'The products, page by page' },
    { rel: 'catalogue', href: uri.catalogue, title: 'All products as one document, streamed' },
    { rel: 'order', href: uri.placeOrder, title: 'A blank order; POST a filled one here' },
    { rel: 'orders', href: uri.orders, title: 'The orders that you may see' },
    { rel: 'events', href: uri.events, title: 'Events, oldest first; needs a key' },
    { rel: 'webhooks', href: uri.webhooks, title: 'Webhooks, which deliver events to a URL of yours; needs a key' },
    { rel: 'service-desc', href: uri.openapi, title: 'This service, described for machines (OpenAPI)' },
    { rel: 'service-doc', href: uri.docs, title: 'This service, described for people' },
    { rel: 'describedby', href: uri.schema('purchase-order'), title: 'The schema of orders' },
    { rel: 'describedby', href: uri.schema('product'), title: 'The schema of products' }
  ]
}

export const serviceRepresentations = makeRepresentations<Service>({
  type: rootType(serviceXsd, 'service'),
  element: ({ name, currency }, { base }) =>
    element('service', {}, [element('name', {}, name), element('currency', {}, currency), ...serviceLinks(base).map(linkElement)]),
  html: (service, context) =>
    renderPage('home', service.name, { service, links: serviceLinks(context.base), mostSearchCharacters }, context),
  validators: () => ({ version: '1' }),
  schema: 'service'
})
