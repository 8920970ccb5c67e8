import { pieces } from '../domain/units.ts'

/** Short codes that senders write for a unit of UN/ECE Recommendation 20. Nothing else converts: a box is not a piece. */
const longCodes: ReadonlyMap<string, string> = new Map(
  Object.entries({ KG: 'KGM', G: 'GRM', L: 'LTR', M: 'MTR', M2: 'MTK', M3: 'MTQ', H: 'HUR' })
)

/** The codes that mean the same unit as the one that was sent, which comes first. @param pieces the codes that mean one piece */
export function anyUnitOf(sent: string, pieces: readonly string[]): readonly string[] {
  if (pieces.includes(sent)) return [sent, ...pieces.filter((code) => code !== sent)]
  const long = longCodes.get(sent)
  return long === undefined ? [sent] : [sent, long]
}

export const ublPieces = pieces
export const cxmlPieces = [...pieces, 'PCE', 'PC'] as const
