import type { NewWebhook } from '../../domain/webhook.ts'

/** The webhook that the tests ask for. */
export const wanted: NewWebhook = {
  url: 'https://erp.example/hooks',
  types: [],
  mediaType: 'application/json',
  status: 'active',
  owner: { customer: 'Harbour', keyId: 'k_1' },
  hears: { types: ['product-created'] }
}
