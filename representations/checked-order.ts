import type { Order } from '../domain/order.ts'
import { element } from '../schemas/element.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { rootType } from '../schemas/vocabulary.ts'
import { linesOfPage, orderElement } from './order.ts'
import { makeRepresentations } from './representation.ts'
import { withShownPrices } from './views/order-form-products.ts'
import { renderPage } from './views.ts'

/** Elements that only a placed order has. */
const ofPlaced: ReadonlySet<string> = new Set(['placed-at', 'modified-at', 'link'])

/** An order as it would be. It has no URI, so it has no id, version, dates or links. */
export const checkedOrderRepresentations = makeRepresentations<Order>({
  name: 'checked-order',
  type: rootType(orderXsd, 'order'),
  element: (order, context) =>
    element(
      'order',
      {},
      orderElement(order, context).children?.filter(({ name }) => !ofPlaced.has(name))
    ),
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
