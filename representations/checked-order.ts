import type { Order } from '../domain/order.ts'
import { element } from '../schemas/element.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { linesOfPage, orderElement } from './order.ts'
import { makeRepresentations } from './representation.ts'
import { withShownPrices } from './views/order-form-products.ts'
import { renderPage } from './views.ts'

/** The attributes and elements that only a placed order has, besides its links. */
export const ofPlaced: readonly string[] = ['id', 'version', 'placed-at', 'modified-at']

/** An order as it would be. It has no URI, and so no links either. */
export const checkedOrderRepresentations = makeRepresentations<Order>({
  name: 'checked-order',
  type: rootType(orderXsd, 'order'),
  element: (order, context) => {
    const { name, attributes = {}, children = [] } = orderElement(order, context)
    const others = Object.entries(attributes).filter(([attribute]) => !ofPlaced.includes(attribute))
    return element(
      name,
      Object.fromEntries(others),
      children.filter((child) => child.name !== 'link' && !ofPlaced.includes(child.name))
    )
  },
  html: (order, context) => {
    const typed = context.typed && withShownPrices(context.typed, order.items)
    const data = {
      order,
      isBuyer: true,
      ...linesOfPage(order, context.self),
      isChecked: true,
      typed,
      hasForm: true,
      shipments: [],
      links: []
    }
    return renderPage('order', 'What the order would be', data, context)
  },
  schema: 'order'
})
