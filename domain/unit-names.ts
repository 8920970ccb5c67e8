/** The names of units in messages and on pages. */

/** The names of a unit that only counts ("one", "each"): it may be a single piece or a box of 50. */
export const countedNames = ['unit', 'units'] as const

type Names = readonly [one: string, more: string]

/** The names of common packages of UN/ECE Recommendation 21. Recommendation 20 writes their codes with an X before them. */
const packageNames: Readonly<Record<string, Names>> = {
  BX: ['box', 'boxes'],
  CT: ['carton', 'cartons'],
  CS: ['case', 'cases'],
  PK: ['pack', 'packs'],
  PA: ['packet', 'packets'],
  BG: ['bag', 'bags'],
  BO: ['bottle', 'bottles'],
  CA: ['can', 'cans'],
  DR: ['drum', 'drums'],
  PX: ['pallet', 'pallets'],
  RL: ['reel', 'reels'],
  RO: ['roll', 'rolls'],
  ST: ['sheet', 'sheets'],
  TU: ['tube', 'tubes']
}

/** The names of other common units, most of Recommendation 20. Any other code is shown as it is. */
const unitNames: Readonly<Record<string, Names>> = {
  C62: countedNames,
  EA: countedNames,
  H87: ['piece', 'pieces'],
  PR: ['pair', 'pairs'],
  SET: ['set', 'sets'],
  KT: ['kit', 'kits'],
  DZN: ['dozen', 'dozen'],
  CEN: ['hundred', 'hundred'],
  MIL: ['thousand', 'thousand'],
  // In Recommendation 21 PF is a pen for animals, so XPF is not a pallet.
  PF: ['pallet', 'pallets'],
  NRL: ['roll', 'rolls'],
  MGM: ['mg', 'mg'],
  GRM: ['g', 'g'],
  KGM: ['kg', 'kg'],
  TNE: ['t', 't'],
  LBR: ['lb', 'lb'],
  ONZ: ['oz', 'oz'],
  MMT: ['mm', 'mm'],
  CMT: ['cm', 'cm'],
  MTR: ['m', 'm'],
  KMT: ['km', 'km'],
  FOT: ['ft', 'ft'],
  INH: ['in', 'in'],
  MTK: ['m²', 'm²'],
  MTQ: ['m³', 'm³'],
  MLT: ['ml', 'ml'],
  LTR: ['l', 'l'],
  HLT: ['hl', 'hl'],
  SEC: ['second', 'seconds'],
  MIN: ['minute', 'minutes'],
  HUR: ['hour', 'hours'],
  DAY: ['day', 'days'],
  MON: ['month', 'months'],
  KWH: ['kWh', 'kWh']
}

const names: ReadonlyMap<string, Names> = new Map([
  ...Object.entries(unitNames),
  ...Object.entries(packageNames).flatMap(([code, both]): [string, Names][] => [
    [code, both],
    [`X${code}`, both]
  ])
])

/** All codes that have names. */
export const namedUnits: readonly string[] = [...names.keys()]

/** The name of a unit after a quantity. */
export function unitNameOf(code: string, quantity: string): string {
  return namesOf(code)[quantity === '1' ? 0 : 1]
}

/** The singular and the plural name of a unit. */
export function namesOf(code: string): Names {
  return names.get(code) ?? [code, code]
}

/** The name of a unit after a quantity, with its code, as a document writes it: `5 packs (PK)`. */
export function withUnit(quantity: string, code: string): string {
  return `${quantity} ${nameWithCode(code, quantity === '1' ? 0 : 1)}`
}

/** The plural name of a unit with its code: `packs (PK)`. */
export function unitsNamed(code: string): string {
  return nameWithCode(code, 1)
}

function nameWithCode(code: string, number: 0 | 1): string {
  const known = names.get(code)
  return known ? `${known[number]} (${code})` : code
}
