import { DomainError, type Fault, mostFaults } from './errors.ts'
import type { Objections } from './order.ts'

export const noObjections: Objections = { invalid: [], refused: [] }

export function hasObjections({ invalid, refused }: Objections): boolean {
  return invalid.length + refused.length > 0
}

export function joinObjections(...all: readonly (Objections | undefined)[]): Objections {
  return { invalid: all.flatMap((one) => one?.invalid ?? []), refused: all.flatMap((one) => one?.refused ?? []) }
}

/**
 * @param objections faults of a buyer's own document. They come first, so that the reason of a refusal is not lost where the shop
 *   finds more faults than are listed
 * @throws DomainError `invalid-order` or `order-refused` with all faults, if there are any
 */
export function refuse({ invalid, refused }: Objections, objections = noObjections): void {
  const faults = [...objections.invalid, ...objections.refused, ...inOrder([...invalid, ...refused])]
  if (faults.length === 0) return
  const code = codeOf(joinObjections(objections, { invalid, refused }))
  const what = code === 'invalid-order' ? 'can never be accepted as it is' : 'cannot be accepted now'
  throw new DomainError(code, `The order ${what}: ${counted(faults)}. Nothing was stored.`, { faults })
}

/** The refusal of a buyer's own document for these faults alone: the content of its order is not decided. */
export function refusal({ invalid, refused }: Objections): DomainError {
  const faults = [...invalid, ...refused]
  const [only, ...others] = faults
  const detail = only && others.length === 0 ? only.detail : `${counted(faults)}. Nothing was stored.`
  return new DomainError(codeOf({ invalid, refused }), detail, { faults })
}

function codeOf({ invalid }: Objections): 'invalid-order' | 'order-refused' {
  return invalid.length > 0 ? 'invalid-order' : 'order-refused'
}

/** The header's faults first, then each line's, then those of the order as a whole. */
function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const line = ({ at }: Fault) => (at ? (at[0] === 'item' ? Number(at[1]) : 0) : Number.MAX_SAFE_INTEGER)
  return faults.toSorted((a, b) => line(a) - line(b))
}

function counted({ length }: readonly Fault[]): string {
  if (length === 1) return '1 error is listed'
  return length > mostFaults ? `${length} errors, of which the first ${mostFaults} are listed` : `${length} errors are listed`
}
