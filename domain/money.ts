/**
 * Exact decimals: a canonical string on the outside, a scaled BigInt inside an operation. No binary floating point
 * ever touches a price, a quantity or a total.
 */

declare const exact: unique symbol

/** An exact decimal number as it is written: `-?digits[.digits]`. Trailing zeros are kept ("10.10" stays "10.10"). */
export type Decimal = string & { readonly [exact]: true }

const lexical = /^-?\d+(\.\d+)?$/

/** Reads a decimal; surrounding XML white space is allowed. @throws RangeError when the text is not a decimal number */
export function decimal(text: string): Decimal {
  const trimmed = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
  if (!lexical.test(trimmed)) throw new RangeError(`not a decimal number: ${JSON.stringify(text)}`)
  return trimmed as Decimal
}

/** The number of `10^-scale` units in a decimal. @throws RangeError when it has more fraction digits than `scale` */
export function toUnits(value: Decimal, scale: number): bigint {
  const point = value.indexOf('.')
  const fraction = point < 0 ? '' : value.slice(point + 1)
  if (fraction.length > scale) throw new RangeError(`${value} has more than ${scale} fraction digits`)
  return BigInt((point < 0 ? value : value.slice(0, point) + fraction) + '0'.repeat(scale - fraction.length))
}

/** The decimal of `units * 10^-scale`, with exactly `scale` fraction digits. */
export function fromUnits(units: bigint, scale: number): Decimal {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const text = scale === 0 ? whole : `${whole}.${digits.slice(digits.length - scale)}`
  return (units < 0n ? `-${text}` : text) as Decimal
}

/** The same number without trailing fraction zeros: 17.000 -> 17. */
export function plain(value: Decimal): Decimal {
  if (!value.includes('.')) return value === '-0' ? ('0' as Decimal) : value
  const text = value.replace(/\.?0+$/, '')
  return (text === '-0' ? '0' : text) as Decimal
}

function scaleOf(value: Decimal): number {
  const point = value.indexOf('.')
  return point < 0 ? 0 : value.length - point - 1
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(scaleOf(a), scaleOf(b))
  return fromUnits(toUnits(a, scale) + toUnits(b, scale), scale)
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(scaleOf(a), scaleOf(b))
  return fromUnits(toUnits(a, scale) - toUnits(b, scale), scale)
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  const scaleA = scaleOf(a)
  const scaleB = scaleOf(b)
  return fromUnits(toUnits(a, scaleA) * toUnits(b, scaleB), scaleA + scaleB)
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(scaleOf(a), scaleOf(b))
  const difference = toUnits(a, scale) - toUnits(b, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** Whether a decimal is a whole number of times another. */
export function isMultiple(value: Decimal, of: Decimal): boolean {
  const scale = Math.max(scaleOf(value), scaleOf(of))
  return toUnits(value, scale) % toUnits(of, scale) === 0n
}

/** The greatest multiple of `of` that is not above a value; neither is below zero. */
export function multipleBelow(value: Decimal, of: Decimal): Decimal {
  const scale = Math.max(scaleOf(value), scaleOf(of))
  const [units, step] = [toUnits(value, scale), toUnits(of, scale)]
  return plain(fromUnits(units - (units % step), scale))
}

/** Rounds half away from zero ("half-up") to `digits` fraction digits. */
export function round(value: Decimal, digits: number): Decimal {
  const scale = scaleOf(value)
  if (scale <= digits) return fromUnits(toUnits(value, digits), digits)
  const divisor = 10n ** BigInt(scale - digits)
  const units = toUnits(value, scale)
  const half = units < 0n ? -divisor / 2n : divisor / 2n
  return fromUnits((units + half) / divisor, digits)
}

export const zero = '0' as Decimal

/** ISO 4217 (2024) currencies whose minor unit is not 2 digits. */
const minorUnits: ReadonlyMap<string, number> = new Map(
  Object.entries({
    BIF: 0,
    CLP: 0,
    DJF: 0,
    GNF: 0,
    ISK: 0,
    JPY: 0,
    KMF: 0,
    KRW: 0,
    PYG: 0,
    RWF: 0,
    UGX: 0,
    UYI: 0,
    VND: 0,
    VUV: 0,
    XAF: 0,
    XOF: 0,
    XPF: 0,
    BHD: 3,
    IQD: 3,
    JOD: 3,
    KWD: 3,
    LYD: 3,
    OMR: 3,
    TND: 3,
    CLF: 4,
    UYW: 4
  })
)

/** Fraction digits of a currency's minor unit (ISO 4217). */
export function minorUnit(currency: string): number {
  return minorUnits.get(currency) ?? 2
}
