import { guest } from '../domain/caller.ts'
import { decimal } from '../domain/money.ts'
import type { Order, OrderSummary } from '../domain/order.ts'
import type { Product } from '../domain/product.ts'
import type { Shipment } from '../domain/shipping.ts'
import type { Delivery, Webhook } from '../domain/webhook.ts'
import { problemTypes } from '../http/problem-types.ts'
import type { EventsPage } from '../representations/events.ts'
import { uris } from '../representations/links.ts'
import type { BlankOrder } from '../representations/order.ts'
import type { OrderPage } from '../representations/orders.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import type { ProductPage } from '../representations/product.ts'
import { type Representations, variantOf } from '../representations/representation.ts'
import type { Service } from '../representations/service.ts'
import type { ShipmentPage } from '../representations/shipment.ts'
import type { DeliveryPage, WebhookList } from '../representations/webhook.ts'
import { type Json, toJson } from '../schemas/json.ts'
import type { ElementType } from '../schemas/vocabulary.ts'
import { readXml } from '../schemas/xml.ts'

const eventId = '01a203d4-9152-7530-9420-de2890300176'

/** Example request documents by root element. Their product is in the sample catalogue. */
const sent: Readonly<Record<string, string>> = {
  'purchase-order': `<?xml version="1.0" encoding="UTF-8"?>
<purchase-order>
  <order-number>PO-2026-0042</order-number>
  <ship-to>
    <name>Example Works Ltd</name>
    <address>
      <street>Mill Lane 7</street>
      <city>Berlin</city>
      <postal-code>10115</postal-code>
      <country>DE</country>
    </address>
  </ship-to>
  <item>
    <product-id>ABC-1</product-id>
    <quantity unit="C62">3</quantity>
    <unit-price>9.99</unit-price>
  </item>
</purchase-order>
`,
  order: `<?xml version="1.0" encoding="UTF-8"?>
<order>
  <order-number>PO-2026-0042</order-number>
  <item>
    <product-id>ABC-1</product-id>
    <quantity unit="C62">2</quantity>
  </item>
</order>
`,
  product: `<?xml version="1.0" encoding="UTF-8"?>
<product>
  <name>Hex bolt M8 × 40, zinc-plated, box of 50</name>
  <price>9.99</price>
  <unit>C62</unit>
  <category>Fasteners</category>
  <on-hand>480</on-hand>
</product>
`,
  stock: `<?xml version="1.0" encoding="UTF-8"?>
<stock>
  <on-hand>40</on-hand>
</stock>
`,
  'order-status': `<?xml version="1.0" encoding="UTF-8"?>
<order-status>
  <status>shipped</status>
</order-status>
`,
  shipment: `<?xml version="1.0" encoding="UTF-8"?>
<shipment>
  <carrier>DHL</carrier>
  <tracking-number>JD0140</tracking-number>
  <item line="1">
    <quantity>2</quantity>
  </item>
</shipment>
`,
  webhook: `<?xml version="1.0" encoding="UTF-8"?>
<webhook>
  <url>https://erp.example/hooks</url>
  <type>order-placed</type>
</webhook>
`,
  delivery: `<?xml version="1.0" encoding="UTF-8"?>
<delivery event="${eventId}"/>
`
}

/** The fields of forms, as the pages have them, by the root element of the document that they make. */
export const formExamples: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'purchase-order': { 'item.1.product-id': 'ABC-1', 'item.1.quantity': '3' },
  webhook: { url: 'https://erp.example/hooks', 'type.1': 'order-placed' },
  delivery: { event: eventId }
}

const exampleOrderId = '0b9f6a52-7d1e-4c0a-9f43-5e8d2a6c1b70'

const placedAt = Date.UTC(2026, 10, 20, 15)

const product: Product = {
  id: 'ABC-1',
  version: 3,
  name: 'Hex bolt M8 × 40, zinc-plated, box of 50',
  price: decimal('9.99'),
  currency: 'EUR',
  unit: 'C62',
  gtin: '9520714000376',
  categories: ['Fasteners'],
  images: [],
  backorder: false,
  availability: 'in-stock',
  modifiedAt: placedAt
}

const order: Order = {
  id: exampleOrderId,
  version: 1,
  status: 'accepted',
  orderNumber: 'PO-2026-0042',
  currency: 'EUR',
  notes: [],
  extensions: [],
  items: [
    {
      line: 1,
      productId: product.id,
      name: product.name,
      quantity: decimal('3'),
      unit: product.unit,
      unitPrice: product.price,
      lineTotal: decimal('29.97'),
      notes: []
    }
  ],
  total: decimal('29.97'),
  placedAt,
  modifiedAt: placedAt
}

const webhook: Webhook = {
  id: '5b1c7d0e-3f62-4b8e-9a55-0c4f2e7d9a13',
  version: 1,
  url: 'https://erp.example/hooks',
  types: ['order-placed'],
  mediaType: 'application/json',
  status: 'active',
  createdAt: placedAt,
  modifiedAt: placedAt,
  hears: { types: ['order-placed'] }
}

const delivery: Delivery = { eventId, type: 'order-placed', attempt: 1, at: placedAt, status: 204, durationMs: 12 }

const shipment: Shipment = {
  orderId: exampleOrderId,
  number: 1,
  shippedAt: placedAt,
  carrier: 'DHL',
  trackingNumber: 'JD0140',
  itemCount: 1,
  items: [{ line: 1, productId: product.id, name: product.name, unit: product.unit, quantity: decimal('2') }]
}

function summaryOf({ items, notes: _notes, extensions: _extensions, ...head }: Order): OrderSummary {
  return { ...head, itemCount: items.length }
}

/** Example values for the service's writers, by the schema name of their representations. */
function samples(base: string): Readonly<Record<string, unknown>> {
  const uri = uris(base)
  const { status, title } = problemTypes['invalid-document']
  return {
    product,
    products: {
      products: [product],
      links: [
        { rel: 'self', href: `${uri.products}?limit=1` },
        { rel: 'first', href: `${uri.products}?limit=1` },
        { rel: 'next', href: `${uri.products}?limit=1&after=aWQgQUJDLTE` }
      ],
      query: {},
      validators: { version: '1' }
    } satisfies ProductPage,
    order,
    orders: {
      orders: [summaryOf(order)],
      links: [
        { rel: 'self', href: uri.orders },
        { rel: 'first', href: uri.orders }
      ],
      query: {},
      validators: { version: '1' }
    } satisfies OrderPage,
    events: {
      events: [{ position: 1, weight: 0, id: eventId, type: 'order-placed', subject: order.id, version: 1, at: placedAt, order }],
      links: [
        { rel: 'self', href: `${uri.events}?limit=1` },
        { rel: 'next', href: `${uri.events}?limit=1&after=${eventId}` }
      ],
      version: '1',
      isFinal: false,
      types: []
    } satisfies EventsPage,
    webhook,
    webhooks: { webhooks: [webhook] } satisfies WebhookList,
    delivery,
    deliveries: { webhook, deliveries: [delivery], links: [{ rel: 'self', href: uri.deliveries(webhook.id) }] } satisfies DeliveryPage,
    stock: { productId: product.id, version: 7, onHand: decimal('477'), modifiedAt: placedAt },
    'order-status': order,
    shipment,
    shipments: {
      version: 1,
      order,
      shipments: [shipment],
      links: [{ rel: 'self', href: uri.shipments(order.id) }],
      position: ''
    } satisfies ShipmentPage,
    'purchase-order': { productIds: [] } satisfies BlankOrder,
    service: { name: 'Tradepost', currency: 'EUR' } satisfies Service,
    problem: {
      type: uri.problem('invalid-document'),
      title,
      status,
      detail: 'The document does not match its schema: 1 error. Nothing was stored.',
      instance: uri.placeOrder,
      errors: [
        {
          detail: 'quantity must be a number above 0 with up to 9 digits and up to 3 fraction digits, such as 3 or 2.5.',
          line: 5,
          path: '/purchase-order/item[1]/quantity'
        }
      ]
    } satisfies ProblemDocument
  }
}

/** An example response in a media type, from the route's own writer. HTML pages have none. */
export function answerExample(representations: Representations<never>, mediaType: string, base: string): unknown {
  const { schema } = representations
  const sample = schema === undefined ? undefined : samples(base)[schema]
  const variant = variantOf(representations, mediaType)
  if (sample === undefined || !variant || mediaType === 'text/html') return undefined
  const written = variant.write(sample as never, { base, currency: 'EUR', shop: 'Tradepost', caller: guest, self: `${base}/` })
  return /[/+]json$/.test(mediaType) ? JSON.parse(written) : written
}

export function requestXml(root: string): string | undefined {
  return sent[root]
}

export function requestJson(type: ElementType): Json | undefined {
  const xml = sent[type.name]
  return xml === undefined ? undefined : toJson(readXml(xml), type)
}
