/** The identifiers of Peppol BIS 3. */

import type { UblAnswerBasis } from '../buyer-document.ts'

/** The profiles, and the customization of an answer in each. Rule T116-R006 wants `order_response_advanced`. */
export const profiles = {
  ordering: { id: 'urn:fdc:peppol.eu:poacc:bis:ordering:3', response: 'urn:fdc:peppol.eu:poacc:trns:order_response:3' },
  advanced: {
    id: 'urn:fdc:peppol.eu:poacc:bis:advanced_ordering:3',
    response: 'urn:fdc:peppol.eu:poacc:trns:order_response_advanced:3'
  }
} as const

/** The customizations of orders, their changes and cancellations. National rules append to these identifiers. */
const transaction = /^urn:fdc:peppol\.eu:poacc:trns:order\w*:3(:|$)/

/** The profile of a document. Undefined if the document is not of Peppol BIS 3. */
export function profileOf(customizationId = '', profileId = ''): UblAnswerBasis['profile'] {
  if (!transaction.test(customizationId)) return undefined
  return (['ordering', 'advanced'] as const).find((name) => profiles[name].id === profileId)
}
