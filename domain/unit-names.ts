/** The names of units in messages and on pages. */

/** The names of a unit that only counts ("one", "each"): it may be a single piece or a box of 50. */
export const countedNames = ['unit', 'units'] as const

/** Singular and plural names of common UN/ECE Recommendation 20 and 21 codes. Any other code is shown as it is. */
const unitNames: Readonly<Record<string, readonly [one: string, more: string]>> = {
  C62: countedNames,
  EA: countedNames,
  H87: ['piece', 'pieces'],
  PR: ['pair', 'pairs'],
  SET: ['set', 'sets'],
  KT: ['kit', 'kits'],
  DZN: ['dozen', 'dozen'],
  CEN: ['hundred', 'hundred'],
  MIL: ['thousand', 'thousand'],
  BX: ['box', 'boxes'],
  CT: ['carton', 'cartons'],
  CS: ['case', 'cases'],
  PK: ['pack', 'packs'],
  PA: ['packet', 'packets'],
  BG: ['bag', 'bags'],
  BO: ['bottle', 'bottles'],
  CA: ['can', 'cans'],
  DR: ['drum', 'drums'],
  PF: ['pallet', 'pallets'],
  PX: ['pallet', 'pallets'],
  RL: ['reel', 'reels'],
  RO: ['roll', 'rolls'],
  NRL: ['roll', 'rolls'],
  ST: ['sheet', 'sheets'],
  TU: ['tube', 'tubes'],
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

/** Recommendation 20 writes the package codes of Recommendation 21 with an X before their two letters. */
const packages: ReadonlySet<string> = new Set('XBG XBO XBX XCA XCS XCT XDR XPA XPK XPX XRL XRO XST XTU'.split(' '))

/** All codes that have names. */
export const namedUnits: readonly string[] = [...Object.keys(unitNames), ...packages]

/** The singular and the plural name of a unit. */
export function namesOf(code: string): readonly [one: string, more: string] {
  return knownNames(code) ?? [code, code]
}

function knownNames(code: string): readonly [string, string] | undefined {
  const known = packages.has(code) ? code.slice(1) : code
  return Object.hasOwn(unitNames, known) ? unitNames[known] : undefined
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
  const names = knownNames(code)
  return names ? `${names[number]} (${code})` : code
}
