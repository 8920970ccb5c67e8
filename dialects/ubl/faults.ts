import { shorten } from '../../schemas/shorten.ts'
import type { Sourced } from '../buyer-document.ts'
import type { FaultList } from '../faults.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'
import { isTrue } from './values.ts'

/** Elements that an order has at most once, by their parent. If it had two, one would be ignored. */
const single = {
  document: [
    'ID',
    'CopyIndicator',
    'OrderTypeCode',
    'DocumentCurrencyCode',
    'PricingCurrencyCode',
    'SequenceNumberID',
    'BuyerCustomerParty',
    'AccountingCustomerParty'
  ],
  orderLine: ['LineItem'],
  lineItem: ['ID', 'Quantity', 'LineStatusCode', 'Price', 'Item'],
  price: ['PriceAmount', 'BaseQuantity', 'OrderableUnitFactorRate'],
  item: ['SellersItemIdentification', 'StandardItemIdentification']
} as const

export function refuseRepeated(parent: XmlElement | undefined, kind: keyof typeof single, faults: FaultList, item?: Sourced): void {
  const names: readonly string[] = single[kind]
  const seen = new Set<string>()
  for (const child of parent?.children ?? []) {
    if (!names.includes(child.local)) continue
    if (seen.has(child.local)) {
      const detail = `${child.local} occurs more than once here, and UBL allows it once. Send it only once.`
      faults.add('invalid-value', child, detail, { item: item?.text })
    }
    seen.add(child.local)
  }
}

/** Refuses item sets: the lines below a line have quantities and prices of their own. */
export function refuseSet(lineItem: XmlElement, faults: FaultList, item: Sourced | undefined): void {
  const part = find(lineItem, 'SubLineItem')
  if (!part) return
  faults.add('item-set', part, 'SubLineItem makes the line a set, and this shop sells no sets. Order its parts as lines of their own.', {
    item: item?.text
  })
}

function isZero(text: string): boolean {
  // Each zero can match in one place only, so that the time does not grow with the square of a long text.
  return /^[-+]?(?:0+(?:\.0*)?|\.0+)$/.test(text)
}

/** A charge has ChargeIndicator true and gives the shop money. Any other AllowanceCharge takes some, or is zero. */
type Allowance = 'charge' | 'allowance' | 'zero'

function kindOf(element: XmlElement): Allowance {
  const amount = trimmedText(find(element, 'Amount')) ?? ''
  if (isZero(amount) && isZero(trimmedText(find(element, 'MultiplierFactorNumeric')) ?? '0')) return 'zero'
  return isTrue(find(element, 'ChargeIndicator')) && !amount.startsWith('-') ? 'charge' : 'allowance'
}

/**
 * Refuses the allowances of an order or a line. Those of a Price are already in its PriceAmount.
 * @returns a note for each charge that the buyer offers, which the shop does not bill
 */
export function checkAllowances(parent: XmlElement, faults: FaultList, item?: Sourced): readonly Sourced[] {
  return findAll(parent, 'AllowanceCharge').flatMap((from) => {
    const kind = kindOf(from)
    const amount = find(from, 'Amount')
    const money = [trimmedText(amount), attributeOf(amount, 'currencyID')].filter((part) => part !== undefined).join(' ')
    const reason = trimmedText(find(from, 'AllowanceChargeReason'))
    if (kind === 'charge') {
      const offer = [reason, money].filter((part) => part).join(', ') || 'a charge'
      return [{ from, text: `AllowanceCharge: ${offer}. The buyer offers this charge; the shop does not bill it.` }]
    }
    if (kind === 'allowance') {
      const what = `an allowance${money === '' ? '' : ` of ${shorten(money)}`}${reason === undefined ? '' : ` (${shorten(reason)})`}`
      const detail = `The order expects ${what}, which this shop does not give. Send the order without this AllowanceCharge.`
      faults.add('allowance-not-agreed', from, detail, { item: item?.text })
    }
    return []
  })
}
