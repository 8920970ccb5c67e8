/** The units of UN/ECE Recommendations 20 and 21. unit-names.ts has the names of some. */

const words = (text: string) => text.trim().split(/\s+/)

/** The unit of a product that names none. */
export const piece = 'C62'

/** The codes that mean one piece. */
export const pieces = [piece, 'EA', 'H87', 'NAR'] as const

/**
 * Units of UN/ECE Recommendation 20 that count things: pieces, pairs and sets of them, numbers of pieces (a dozen, a
 * hundred), and other things that nobody divides.
 */
const counted = words(`
  NPT NCL HEA IE PR NPR TPR SET TST KT AS AY LO JOB
  DZN DPC DPR DRL DZP GRO GGR CEN HC MIL T3 CNP CLF NMP TP NRL
  AV U2 SYR STC STK LEF SW LR ZP PTN U1 E27
`)

/**
 * Packages of Recommendation 21 by their bare codes, as shops use them. Codes that are often meant for a measure are
 * not here, such as KG (keg), MT (mat), NT (net) and TN (tin); with an X before it each package is counted.
 */
const packages = words(`
  AM BA BC BE BG BI BJ BK BL BN BO BR BX CA CF CG CH CR CS CT CX CY DJ DR EN FC IZ JC JG JR JT JY
  PA PC PF PG PH PJ PK PL PN PO PU PX PY PZ RG RL RO SA SC SH SK SL ST SU SX TB TC TU VI WB
`)

/** Bulk goods are measured, also where Recommendation 21 has a code for them as a kind of package. */
const bulk: ReadonlySet<string> = new Set(words('XVG XVL XVO XVQ XVR XVS XVY'))

const countedUnits: ReadonlySet<string> = new Set([...pieces, ...counted, ...packages])

/** Whether a unit counts things, which cannot be divided. Recommendation 20 writes the packages of Recommendation 21 with an X before them. */
export function isCounted(unit: string): boolean {
  return countedUnits.has(unit) || (/^X[A-Z0-9]{2}$/.test(unit) && !bulk.has(unit))
}
