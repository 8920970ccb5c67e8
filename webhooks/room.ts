/** A limit on what is in memory at once. Whoever comes first gets room first. */
export class Room {
  #free: number
  readonly #size: number
  readonly #waiting: { readonly weight: number; readonly enter: () => void }[] = []

  constructor(size: number) {
    this.#size = size
    this.#free = size
  }

  /** Runs work when there is room for it. What is larger than the room gets all of it. */
  async with<T>(weight: number, work: () => Promise<T>): Promise<T> {
    const taken = Math.min(weight, this.#size)
    if (this.#waiting.length > 0 || taken > this.#free) {
      await new Promise<void>((enter) => this.#waiting.push({ weight: taken, enter }))
    } else this.#free -= taken
    try {
      return await work()
    } finally {
      this.#free += taken
      this.#admit()
    }
  }

  #admit(): void {
    for (let first = this.#waiting[0]; first && first.weight <= this.#free; first = this.#waiting[0]) {
      this.#waiting.shift()
      this.#free -= first.weight
      first.enter()
    }
  }
}
