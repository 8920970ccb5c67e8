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
 * next child is checked as if the misplaced one were not there. What is missing altogether misplaces no child.
 */
export class Sequence {
  readonly #particles: readonly Particle[]
  /** The children, by name. */
  readonly #counts: ReadonlyMap<string, number>
  #at = 0
  #chosen: ElementType | undefined
  #count = 0
  /** The children that were accepted, without repetitions. */
  readonly #accepted: { readonly name: string; readonly position: number }[] = []

  /** @param counts the numbers of the children, by name */
  constructor(type: ElementType, counts: ReadonlyMap<string, number>) {
    this.#particles = particlesOf(type)
    this.#counts = counts
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
      if (particle.required && !this.#isMissing(particle)) return false
    }
    return false
  }

  /** The names of a required element that must come next, and comes later. */
  due(): readonly string[] {
    const rest = this.#particles.slice(this.#chosen ? this.#at + 1 : this.#at)
    const next = rest.find((particle) => particle.required && !this.#isMissing(particle))
    return next?.options.map(({ name }) => name).filter((name) => this.#counts.has(name)) ?? []
  }

  /** @returns the first child that must come after an element of this name, if there is one */
  overtook(name: string): string | undefined {
    const own = this.#particles.findIndex(({ options }) => options.some((type) => type.name === name))
    return this.#accepted.find(({ position }) => position > own)?.name
  }

  /** The name of the first element that is missing. Several names: one of them is missing. */
  missing(): readonly string[] {
    const missing = this.#particles.find((particle) => particle.required && this.#isMissing(particle))
    return missing?.options.map(({ name }) => name) ?? []
  }

  #isMissing({ options }: Particle): boolean {
    return !options.some(({ name }) => this.#counts.has(name))
  }
}
