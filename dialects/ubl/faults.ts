import { shorten } from '../../schemas/shorten.ts'
import type { BuyerFault, BuyerFaultCode, Sourced } from '../buyer-document.ts'
import { attributeOf, find, findAll, locationOf, trimmedText, type XmlElement } from '../xml-element.ts'
import { isTrue } from './values.ts'

/** More faults than this are not listed: whoever has mended these sees the next. */
const maxFaults = 100

/** The faults of a document, each once per place. */
export class FaultList {
  readonly #faults: { readonly start: number; readonly fault: BuyerFault }[] = []
  readonly #places = new Map<XmlElement, Set<string>>()

  /** In the order of the document. */
  get all(): readonly BuyerFault[] {
    return this.#faults.toSorted((a, b) => a.start - b.start).map(({ fault }) => fault)
  }

  /** @param item the sender's number of the line that the fault is in */
  add(code: BuyerFaultCode, at: XmlElement, detail: string, item?: Sourced): void {
    const details = this.#places.get(at) ?? new Set()
    if (this.#faults.length >= maxFaults || details.has(detail)) return
    this.#places.set(at, details.add(detail))
    const fault = { code, detail, ...locationOf(at), ...(item ? { item: shorten(item.text) } : {}) }
    this.#faults.push({ start: at.tag.start, fault })
  }
}

/** Elements that an order has at most once, by their parent: of two, one would be ignored. */
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
      const detail = `${child.local} occurs more than once here, and UBL allows it once. Send only the one that holds.`
      faults.add('invalid-value', child, detail, item)
    }
    seen.add(child.local)
  }
}

/** Refuses item sets: the lines below a line have quantities and prices of their own. */
export function refuseSet(lineItem: XmlElement, faults: FaultList, item: Sourced | undefined): void {
  const part = find(lineItem, 'SubLineItem')
  if (!part) return
  faults.add(
    'item-set',
    part,
    'SubLineItem makes the line a set, and this shop sells no sets. Order its parts as lines of their own.',
    item
  )
}

function isZero(text: string): boolean {
  return /^[-+]?(0+\.?0*|\.0+)$/.test(text)
}

/** A charge has ChargeIndicator true and gives the shop money. Whatever else is in an AllowanceCharge takes some, or nothing. */
type Allowance = 'charge' | 'allowance' | 'nothing'

function kindOf(element: XmlElement): Allowance {
  const amount = trimmedText(find(element, 'Amount')) ?? ''
  if (isZero(amount) && isZero(trimmedText(find(element, 'MultiplierFactorNumeric')) ?? '0')) return 'nothing'
  return isTrue(find(element, 'ChargeIndicator')) && !amount.startsWith('-') ? 'charge' : 'allowance'
}

/**
 * Refuses the allowances of an order or a line. Those of a Price are already in its PriceAmount.
 * @returns a note for each charge that the buyer offers, which the shop does not bill
 */
export function judgeAllowances(parent: XmlElement, faults: FaultList, item?: Sourced): readonly Sourced[] {
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
      faults.add('allowance-not-agreed', from, detail, item)
    }
    return []
  })
}
