import { countedNames, namedUnits, namesOf } from '../../domain/unit-names.ts'

export function unitName(code: string): string {
  return namesOf(code)[0]
}

/** The unit after a price: `each`, `per box`, `per kg`. */
export function perUnit(code: string): string {
  const names = namesOf(code)
  return names === countedNames ? 'each' : `per ${names[0]}`
}

/** The text of `perUnit` for each code that has a name. The script of the order form uses it. */
export function perUnitTexts(): Readonly<Record<string, string>> {
  return Object.fromEntries(namedUnits.map((code) => [code, perUnit(code)]))
}

export function unitNameOf(code: string, quantity: string): string {
  return namesOf(code)[quantity === '1' ? 0 : 1]
}
