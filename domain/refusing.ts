import { DomainError, type Fault, mostFaults } from './errors.ts'

/** What stands in the way of an order. `invalid`: for ever, whatever becomes of the shop. `refused`: now. */
export interface Faults {
  readonly invalid: readonly Fault[]
  readonly refused: readonly Fault[]
}

/**
 * @param objections faults of a buyer's own document. They come first, so that none is lost where the shop finds more faults than
 *   are listed
 * @throws DomainError `invalid-order` or `order-refused` with all faults, if there are any
 */
export function refuse({ invalid, refused }: Faults, objections: Faults = { invalid: [], refused: [] }): void {
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
