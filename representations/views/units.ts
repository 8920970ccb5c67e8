import { plain } from '../../domain/money.ts'
import { quantityRule } from '../../domain/quantities.ts'
import { countedNames, namedUnits, namesOf } from '../../domain/unit-names.ts'

export function unitName(code: string): string {
  return namesOf(code)[0]
}

/** The unit after a price: `each`, `per box`, `per kg`. */
export function perUnit(code: string): string {
  const names = namesOf(code)
  return names === countedNames ? 'each' : `per ${names[0]}`
}

/** For the script of the order form, each unit that has a name: the text of `perUnit`, and the step of a product without its own. */
export function unitTerms(): Readonly<Record<string, { readonly per: string; readonly step: string }>> {
  return Object.fromEntries(namedUnits.map((unit) => [unit, { per: perUnit(unit), step: plain(quantityRule({ unit }).step) }]))
}
