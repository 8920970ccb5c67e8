import { batchWeight, type LaneName, laneOf } from './sizes.ts'

/** The weight of a write in a batch: of what was sent, and of the stored orders that it reads or changes. */
export interface WriteWeight {
  readonly sent: number
  readonly existing: number
}

/**
 * Chooses the writes of a batch that one transaction does. The others are postponed.
 *
 * The queue knows what was sent, and the transaction also how large the stored order is. In a batch of small writes, those that turn out
 * to be large are postponed, so that the others do not wait for them. In a batch of large ones, the rest is postponed when the
 * stored orders of the chosen ones are enough for one transaction. At least one large write is chosen.
 *
 * A write that is too large for the small lane here is too large for it in the queue, too. Otherwise it would be postponed for ever. The
 * weight of a document is never more here than in the queue: there a large one is still text, which counts as its shortest lines.
 */
export class Division {
  readonly #lane: LaneName
  #existing = 0

  constructor(lane: LaneName) {
    this.#lane = lane
  }

  /** Call this for each write of the batch, in order. @returns whether the transaction does it */
  takes({ sent, existing }: WriteWeight): boolean {
    const isFull = this.#existing >= batchWeight
    if (isFull || (this.#lane === 'small' && laneOf(sent + existing) === 'large')) return false
    this.#existing += existing
    return true
  }
}
