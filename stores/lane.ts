import { LaneRoom } from './lane-room.ts'
import { batchWeight } from './sizes.ts'

/** A write that waits in a lane, or was taken from it. */
export interface Waiting {
  /** The writes are numbered in the order of arrival. */
  readonly number: number
  /** Senders take turns. */
  readonly sender: string
  /** The round of the lane in which it goes. */
  readonly round: number
  /** The weight of the work. */
  readonly weight: number
}

/**
 * Writes that wait for their round. Each round takes one write of every sender, however many of them wait. A new write gets the next
 * round, or the round after the last write of its sender.
 */
export class Lane<Write extends Waiting> {
  readonly room = new LaneRoom()
  /** By round, and in each round in the order of arrival. */
  readonly #waiting: Write[] = []
  /** The round of the last write of each sender. */
  readonly #lastRounds = new Map<string, number>()
  /** The last round of which a write was taken. */
  #round = 0

  /** The round for a write that has just come. */
  nextRound(sender: string): number {
    return Math.max(this.#round, this.#lastRounds.get(sender) ?? 0) + 1
  }

  /** Adds a write at the place of its round and its number. */
  insert(write: Write): void {
    const { sender, round } = write
    this.#lastRounds.set(sender, Math.max(this.#lastRounds.get(sender) ?? 0, round))
    this.#waiting.splice(placeOf(write, this.#waiting), 0, write)
  }

  /** Removes the first writes, until a batch is full. */
  take(): Write[] {
    let [count, weight] = [0, 0]
    for (const write of this.#waiting) {
      if (weight >= batchWeight) break
      count++
      weight += write.weight
    }
    const taken = this.#waiting.splice(0, count)
    for (const { sender, round } of taken) {
      this.#round = Math.max(this.#round, round)
      if (this.#lastRounds.get(sender) === round) this.#lastRounds.delete(sender)
    }
    return taken
  }
}

/** The index of a write among others that are in order, by binary search. */
function placeOf({ round, number }: Waiting, waiting: readonly Waiting[]): number {
  let [low, high] = [0, waiting.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = waiting[middle]
    if (other && (other.round < round || (other.round === round && other.number < number))) low = middle + 1
    else high = middle
  }
  return low
}
