/** The numbers of buyers' documents. */

import { type Decimal, plain } from '../domain/money.ts'

/** The longest number that is read. It bounds the time of exact arithmetic. */
const longestNumber = 40

/** A decimal (xs:decimal) of 0 or more without sign, leading zeros and trailing fraction zeros. */
export function canonical(text: string): Decimal | undefined {
  const [whole, integer = '', fraction = ''] = /^\+?(\d*)(?:\.(\d*))?$/.exec(text.slice(0, longestNumber + 1)) ?? []
  if (whole === undefined || text.length > longestNumber || integer + fraction === '') return undefined
  return plain(`${integer.replace(/^0+(?=\d)/, '') || '0'}${fraction === '' ? '' : `.${fraction}`}` as Decimal)
}

/** The same number with the fraction digits that it was written with, which decide how it is rounded. */
export function withDigitsOf(value: Decimal, written: string): Decimal {
  const digits = written.split('.')[1]?.length ?? 0
  const [whole, fraction = ''] = value.split('.')
  return (digits === 0 ? value : `${whole}.${fraction.padEnd(digits, '0')}`) as Decimal
}
