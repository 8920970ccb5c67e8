/** The names of a unit that only counts ("one", "each"): it may be a single piece or a box of 50. */
const counted = ['unit', 'units'] as const

/** Singular and plural names of common UN/ECE Recommendation 20 and 21 codes. Any other code is shown as it is. */
const unitNames: Readonly<Record<string, readonly [one: string, more: string]>> = {
  C62: counted,
  EA: counted,
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

function namesOf(code: string): readonly [string, string] {
  const known = packages.has(code) ? code.slice(1) : code
  return (Object.hasOwn(unitNames, known) ? unitNames[known] : undefined) ?? [code, code]
}

export function unitName(code: string): string {
  return namesOf(code)[0]
}

/** The unit after a price: `each`, `per box`, `per kg`. */
export function perUnit(code: string): string {
  const names = namesOf(code)
  return names === counted ? 'each' : `per ${names[0]}`
}

/** The text of `perUnit` for each code that has a name. The script of the order form uses it. */
export function perUnitTexts(): Readonly<Record<string, string>> {
  return Object.fromEntries([...Object.keys(unitNames), ...packages].map((code) => [code, perUnit(code)]))
}

export function unitNameOf(code: string, quantity: string): string {
  return namesOf(code)[quantity === '1' ? 0 : 1]
}
