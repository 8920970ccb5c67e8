import fc from 'fast-check'
import t from 'tap'
import {
  add,
  compare,
  type Decimal,
  decimal,
  fromUnits,
  minorUnit,
  multiply,
  plain,
  round,
  subtract,
  toUnits,
  zero
} from '../../domain/money.ts'

/** A decimal with its exact value: units of 10^-9. */
const written: fc.Arbitrary<readonly [Decimal, bigint]> = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 9 }))
  .map(([negative, whole, fraction]) => {
    const units = BigInt(`${whole}${fraction.padEnd(9, '0')}`)
    return [decimal(`${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`), negative ? -units : units]
  })

/** The same by BigInt arithmetic alone: whatever its scale, a decimal's value at `10^-18`. */
const value = (one: Decimal) => toUnits(one, 18)
const exact = 10n ** 9n

t.test('sums, differences and products are exact', async (t) => {
  const property = fc.property(written, written, ([a, x], [b, y]) => {
    const right = value(add(a, b)) === (x + y) * exact && value(subtract(a, b)) === (x - y) * exact && value(multiply(a, b)) === x * y
    return right && Math.sign(compare(a, b)) === (x < y ? -1 : x > y ? 1 : 0)
  })
  t.doesNotThrow(() => fc.assert(property))
})

t.test('rounding is half away from zero, whatever the sign', async (t) => {
  const property = fc.property(written, fc.nat({ max: 6 }), ([a, x], digits) => {
    const unit = 10n ** BigInt(9 - digits)
    const size = x < 0n ? -x : x
    const rounded = (2n * size + unit) / (2n * unit)
    return toUnits(round(a, digits), digits) === (x < 0n ? -rounded : rounded)
  })
  t.doesNotThrow(() => fc.assert(property))
  const cases: readonly (readonly [string, number, string])[] = [
    ['0.005', 2, '0.01'],
    ['-0.005', 2, '-0.01'],
    ['0.00499', 2, '0.00'],
    ['-0.00499', 2, '0.00'],
    ['2.675', 2, '2.68'],
    ['1.005', 2, '1.01'],
    ['0.5', 0, '1'],
    ['-0.5', 0, '-1'],
    ['-0.4', 0, '0'],
    ['99.995', 2, '100.00'],
    ['3', 2, '3.00']
  ]
  for (const [from, digits, to] of cases) t.equal(round(decimal(from), digits), to, `${from} to ${digits} digits`)
})

t.test('a decimal survives its units and loses nothing but zeros when it is made plain', async (t) => {
  const property = fc.property(written, ([a, x]) => {
    const back = fromUnits(x, 9)
    const short = plain(a)
    return value(back) === x * exact && value(short) === x * exact && !/\.\d*0$|\.$|^-0$/.test(short) && decimal(short) === short
  })
  t.doesNotThrow(() => fc.assert(property))
  t.equal(plain(decimal('17.000')), '17')
  t.equal(plain(decimal('100')), '100')
  t.equal(plain(decimal('-0.00')), '0')
})

t.test('only what XML Schema writes as a decimal is a decimal', async (t) => {
  for (const text of ['1', '10.10', '-0.5', '007', ' \n1\t', '0']) t.equal(decimal(text), text.trim())
  for (const text of ['', '.', '1.', '.5', '+1', '1e3', 'NaN', 'Infinity', '1,5', '1 0', '0x1', '\u00a01', '--1', '1.2.3', '\u0661']) {
    t.throws(() => decimal(text), RangeError, JSON.stringify(text))
  }
  t.throws(() => toUnits(decimal('1.234'), 2), RangeError, 'digits are never cut off')
  t.equal(compare(decimal('-0'), zero), 0)
})

t.test('minor units are those of ISO 4217', async (t) => {
  const digits = { EUR: 2, USD: 2, JPY: 0, KRW: 0, CLP: 0, ISK: 0, KWD: 3, BHD: 3, TND: 3, CLF: 4, UYW: 4 }
  for (const [currency, count] of Object.entries(digits)) t.equal(minorUnit(currency), count, currency)
  t.equal(round(decimal('10.5'), minorUnit('JPY')), '11')
})
