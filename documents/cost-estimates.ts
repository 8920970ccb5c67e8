import { newLru } from '../fairness/lru.ts'

/** Senders whose costs are remembered. The least recently active ones are forgotten. */
const maxSenders = 10_000

/** Milliseconds of processor time for each KiB of a sender that is not known yet. JSON with faults in every item takes 1.6. */
const unknownCost = 1

/** The weight of a sender's last job in the running average. */
const weightOfLast = 1 / 8

/** Estimates the processor time of jobs from what earlier jobs of the same sender have cost for their size. */
export class CostEstimates {
  /** Milliseconds for each KiB. */
  readonly #costs = newLru<number>(maxSenders)

  /** @returns milliseconds */
  estimate(sender: string, bytes: number): number {
    return ((this.#costs.get(sender) ?? unknownCost) * bytes) / 1024
  }

  /** Includes the cost of a job in the average. @param cost milliseconds */
  learn(sender: string, bytes: number, cost: number): void {
    if (bytes === 0) return
    const before = this.#costs.get(sender) ?? unknownCost
    this.#costs.set(sender, before + weightOfLast * ((1024 * cost) / bytes - before))
  }
}
