/** Decides how a status changes the seller's dates and notes for the buyer. */

import { defined } from './defined.ts'
import { DomainError } from './errors.ts'
import type { Order, SellerDetails } from './order.ts'
import { type NamedLine, repeatedLine, unknownLine } from './shipping.ts'

/** Details of an order or a line. An absent detail stays as it is. An empty note removes the present one. */
export interface DetailsDraft {
  readonly expectedDeliveryDate?: string
  readonly note?: string
}

export interface StatusDetails extends DetailsDraft {
  readonly items?: readonly (DetailsDraft & { readonly line: NamedLine })[]
}

/**
 * The most characters of the seller's notes of an order and all its lines together. Each status may add notes to other lines, so without
 * this limit an order could become larger than any document, and then nobody could read it.
 */
export const mostNoteCharacters = 500_000

/**
 * The order with the details. Undefined: it has them already.
 * @throws DomainError `invalid-status` if the order lacks one of the lines, a line is named twice, or the notes would be too long together
 */
export function decideDetails(before: Order, details: StatusDetails): Order | undefined {
  const { items: wanted = [] } = details
  const lines = new Map<NamedLine, number>(before.items.map((item, i) => [item.line, i]))
  const named = new Set<NamedLine>()
  const faults = wanted.flatMap(({ line }, i) => {
    const isRepeated = named.has(line)
    named.add(line)
    if (isRepeated) return repeatedLine(line, i + 1)
    return lines.has(line) ? [] : unknownLine(line, i + 1)
  })
  if (faults.length > 0) {
    const detail = 'The lines of the document do not fit those of the order. Nothing was stored.'
    throw new DomainError('invalid-status', detail, { faults })
  }
  const items = [...before.items]
  let isChanged = !alreadyHas(before, details)
  for (const draft of wanted) {
    const i = lines.get(draft.line) ?? -1
    const item = items[i]
    if (!item || alreadyHas(item, draft)) continue
    items[i] = withDetails(item, draft)
    isChanged = true
  }
  if (!isChanged) return undefined
  const after = withDetails({ ...before, items }, details)
  refuseLongNotes(before, after)
  return after
}

/** Notes may get shorter, also where they are too long already. */
function refuseLongNotes(before: Order, after: Order): void {
  const count = noteCharacters(after)
  if (count <= mostNoteCharacters || count <= noteCharacters(before)) return
  const detail = `The notes of the order and its lines would have ${count} characters. At most ${mostNoteCharacters} are allowed. Shorten them. Nothing was stored.`
  throw new DomainError('invalid-status', detail)
}

function noteCharacters({ sellerNote = '', items }: Order): number {
  return items.reduce((sum, item) => sum + (item.sellerNote?.length ?? 0), sellerNote.length)
}

function alreadyHas({ expectedDeliveryDate, sellerNote = '' }: SellerDetails, draft: DetailsDraft): boolean {
  return (draft.expectedDeliveryDate ?? expectedDeliveryDate) === expectedDeliveryDate && (draft.note ?? sellerNote) === sellerNote
}

function withDetails<T extends SellerDetails>(current: T, { expectedDeliveryDate, note }: DetailsDraft): T {
  const { sellerNote: _, ...rest } = current
  const sellerNote = note ?? current.sellerNote
  return {
    ...rest,
    ...defined({ expectedDeliveryDate, sellerNote: sellerNote === '' ? undefined : sellerNote })
  } as T
}
