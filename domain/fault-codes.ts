/** Codes of the faults of orders, products, statuses and shipments. `docs/http-api.md` explains each. A code is never reused. */
export const faultCodes = [
  'unknown-product',
  'out-of-stock',
  'price-changed',
  'wrong-currency',
  'wrong-unit',
  'wrong-quantity-step',
  'below-minimum-quantity',
  'too-many-items',
  'total-limit',
  'stock-limit',
  'already-shipped',
  'line-unknown',
  'repeated-line',
  'not-left',
  'quantity-step',
  'too-many-shipments',
  'wrong-check-digit',
  'wrong-image'
] as const

/** Codes that come only for a buyer's own document. `docs/buyers.md` explains each. */
export const buyerFaultCodes = [
  'two-products',
  'allowance-not-agreed',
  'two-currencies',
  'several-addresses',
  'blanket-order',
  'item-set',
  'schedule-release',
  'stock-transfer',
  'return-item',
  'unknown-order-type',
  'unsupported-document',
  'free-text-line',
  'repeated-line-id',
  'missing-value',
  'invalid-value',
  'order-unknown',
  'sent-before',
  'no-line-left',
  'too-much-text',
  'unknown-line-status',
  'outdated-revision',
  'copy-of-unknown-order'
] as const

export type FaultCode = (typeof faultCodes)[number] | (typeof buyerFaultCodes)[number]
