import type { ElementType } from '../schemas/vocabulary.ts'

/** One step of a sequence: an element that may repeat, or a choice of several. */
interface Particle {
  readonly options: readonly ElementType[]
  readonly required: boolean
}

const cache = new WeakMap<ElementType, readonly Particle[]>()

function particlesOf(type: ElementType): readonly Particle[] {
  const cached = cache.get(type)
  if (cached) return cached
  const particles: { options: ElementType[]; required: boolean }[] = []
  let choice: readonly string[] | undefined
  for (const child of type.children) {
    const last = particles.at(-1)
    if (last && child.alternatives !== undefined && child.alternatives === choice) last.options.push(child)
    // Each alternative of a choice is optional, but one of them is required.
    else particles.push({ options: [child], required: child.required || child.alternatives !== undefined })
    choice = child.alternatives
  }
  cache.set(type, particles)
  return particles
}

function maxOccurs({ repeatable, most = Number.POSITIVE_INFINITY }: ElementType): number {
  return repeatable ? most : 1
}

/**
 * Follows the children of one element through the sequence that its type allows. A misplaced child changes nothing: the
 * next child is checked as if the misplaced one were not there.
 */
export class Sequence {
  readonly #particles: readonly Particle[]
  #at = 0
  #chosen: ElementType | undefined
  #count = 0
  /** The children that were accepted, without repetitions. */
  readonly #accepted: { readonly name: string; readonly position: number }[] = []

  constructor(type: ElementType) {
    this.#particles = particlesOf(type)
  }

  /** Moves on to the next child. @returns whether it is allowed here */
  accept(name: string): boolean {
    if (this.#chosen?.name === name && this.#count < maxOccurs(this.#chosen)) {
      this.#count++
      return true
    }
    for (let i = this.#at; i < this.#particles.length; i++) {
      const particle = this.#particles[i]
      if (!particle) break
      if (i === this.#at && this.#chosen) continue
      const option = particle.options.find((type) => type.name === name)
      if (option) {
        ;[this.#at, this.#chosen, this.#count] = [i, option, 1]
        this.#accepted.push({ name, position: i })
        return true
      }
      if (particle.required) return false
    }
    return false
  }

  /** The names of the elements that are allowed next. */
  expected(): readonly string[] {
    const names: string[] = []
    if (this.#chosen && this.#count < maxOccurs(this.#chosen)) names.push(this.#chosen.name)
    for (const { options, required } of this.#rest()) {
      const own = options.map(({ name }) => name)
      // The document lacks this choice, not the optional elements before it.
      if (required && own.length > 1) return own
      names.push(...own)
      if (required) break
    }
    return names
  }

  /** @returns the first child that must come after an element of this name, if there is one */
  overtook(name: string): string | undefined {
    const own = this.#particles.findIndex(({ options }) => options.some((type) => type.name === name))
    return this.#accepted.find(({ position }) => position > own)?.name
  }

  /** The name of the first element that is missing if no child follows. Several names: one of them is missing. */
  missing(): readonly string[] {
    return (
      this.#rest()
        .find(({ required }) => required)
        ?.options.map(({ name }) => name) ?? []
    )
  }

  #rest(): readonly Particle[] {
    return this.#particles.slice(this.#chosen ? this.#at + 1 : this.#at)
  }
}
