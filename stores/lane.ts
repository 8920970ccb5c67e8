import { DomainError } from '../domain/errors.ts'
import { batchWeight } from './sizes.ts'

/** A write that waits in a lane, or was taken from it. */
export interface Waiting {
  /** The writes are numbered in the order of arrival. */
  readonly number: number
  /** Whose turn it waits for: its sender's, or that of the order that it changes. */
  readonly turn: string
  /** The round of the lane in which it goes. */
  readonly round: number
  /** The weight of what was sent. A lane is limited by it, because it is in memory. */
  readonly size: number
  /** The weight of the work. It is more than `size` if the write reads or changes a large order. */
  readonly weight: number
}

/** The limits of a lane. When it is full, it still takes `part` of each turn. */
const limits = { items: 10_000, weight: 250_000, part: 1 / 25 } as const

interface Turn {
  items: number
  size: number
  lastRound: number
}

/**
 * Writes that wait for their round. In each round one write of every turn goes, however many writes wait for that turn. A write that
 * comes goes in the next round, or in the one after the last write of its turn.
 */
export class Lane<Write extends Waiting> {
  /** By round, and in each round in the order of arrival. */
  readonly #waiting: Write[] = []
  readonly #turns = new Map<string, Turn>()
  #size = 0
  /** The last round of which a write was taken. */
  #round = 0

  get length(): number {
    return this.#waiting.length
  }

  /** A turn that has nothing here may add a write of any size. @throws DomainError `store-overloaded` */
  requireRoom(turn: string, size: number): void {
    const own = this.#turns.get(turn)
    if (!own || hasRoom(this.length, this.#size + size, 1) || hasRoom(own.items, own.size + size, limits.part)) return
    throw new DomainError('store-overloaded', 'Too many writes are waiting right now. Nothing was stored. Try again in a few seconds.')
  }

  /** The round for a write that has just come. */
  nextRound(turn: string): number {
    return Math.max(this.#round, this.#turns.get(turn)?.lastRound ?? 0) + 1
  }

  /** The round for a write that comes from another lane and must go before the writes of its turn that came later. */
  roundAmong({ turn, number }: Waiting): number {
    const later = this.#turns.has(turn) ? this.#waiting.find((other) => other.turn === turn && other.number > number) : undefined
    return later?.round ?? this.nextRound(turn)
  }

  /** Adds a write at the place of its round and its number. */
  insert(write: Write): void {
    const { turn, round, size } = write
    const own = this.#turns.get(turn) ?? { items: 0, size: 0, lastRound: round }
    own.items += 1
    own.size += size
    own.lastRound = Math.max(own.lastRound, round)
    this.#turns.set(turn, own)
    this.#size += size
    this.#waiting.splice(placeOf(write, this.#waiting), 0, write)
  }

  /** Removes the first writes that may go, until a batch is full. */
  take(mayGo: (write: Write) => boolean): Write[] {
    const taken: Write[] = []
    const left: Write[] = []
    let weight = 0
    let seen = 0
    for (const write of this.#waiting) {
      if (weight >= batchWeight) break
      seen++
      if (mayGo(write)) {
        taken.push(write)
        weight += write.weight
      } else left.push(write)
    }
    this.#waiting.splice(0, seen, ...left)
    for (const write of taken) this.#remove(write)
    return taken
  }

  /** The number of the first write of each turn. */
  firstNumbers(): Map<string, number> {
    const numbers = new Map<string, number>()
    for (const { turn, number } of this.#waiting) if (!numbers.has(turn)) numbers.set(turn, number)
    return numbers
  }

  #remove({ turn, round, size }: Write): void {
    this.#size -= size
    this.#round = Math.max(this.#round, round)
    const own = this.#turns.get(turn)
    if (!own) return
    own.items -= 1
    own.size -= size
    if (own.items === 0) this.#turns.delete(turn)
  }
}

function hasRoom(items: number, size: number, part: number): boolean {
  return items < limits.items * part && size <= limits.weight * part
}

/** The index of a write among others that are in order, found by halves. */
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
