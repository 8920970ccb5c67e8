import { DomainError, type Fault, mostFaults } from './errors.ts'
import type { Objections } from './order.ts'

export const noObjections: Objections = { invalid: [], refused: [] }

export function joinObjections(...all: readonly (Objections | undefined)[]): Objections {
  return { invalid: all.flatMap((one) => one?.invalid ?? []), refused: all.flatMap((one) => one?.refused ?? []) }
}

/**
 * @param objections faults of a buyer's own document. They come first, so that none is lost where the shop finds more faults than
 *   are listed
 * @throws DomainError `invalid-order` or `order-refused` with all faults, if there are any
 */
export function refuse({ invalid, refused }: Objections, objections = noObjections): void {
  const faults = [...objections.invalid, ...objections.refused, ...inOrder([...invalid, ...refused])]
  const listed = { faults: faults.slice(0, mostFaults) }
  if (objections.invalid.length + invalid.length > 0)
    throw new DomainError('invalid-order', summary(faults, 'can never be placed as it is'), listed)
  if (faults.length > 0) throw new DomainError('order-refused', summary(faults, 'cannot be placed now'), listed)
}

/** The header's faults first, then each line's, then those of the order as a whole. */
function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const line = ({ at }: Fault) => (at ? (at[0] === 'item' ? Number(at[1]) : 0) : Number.MAX_SAFE_INTEGER)
  return faults.toSorted((a, b) => line(a) - line(b))
}

function summary(faults: readonly Fault[], what: string): string {
  return `The order ${what}: ${faults.length === 1 ? 'one thing stands' : `${faults.length} things stand`} in its way${faults.length > mostFaults ? `, of which the first ${mostFaults} are listed` : ''}. Nothing was stored.`
}
