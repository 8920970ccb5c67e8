import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Milliseconds. */
const samplingInterval = 1_000
const resolution = 10

/** Measures how late the event loop is, from `start` on. */
export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution })
  #timer: NodeJS.Timeout | undefined
  #mean = 0

  start(): void {
    this.#histogram.enable()
    this.#timer = setInterval(() => this.#sample(), samplingInterval).unref()
  }

  /** The mean delay in the last sampling interval, in milliseconds. 0 until the first interval is over. */
  get mean(): number {
    return this.#mean
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#histogram.disable()
  }

  #sample(): void {
    // Without any measurement, the loop was blocked for the whole interval.
    this.#mean = this.#histogram.count === 0 ? Number.POSITIVE_INFINITY : Math.max(0, this.#histogram.mean / 1e6 - resolution)
    this.#histogram.reset()
  }
}
