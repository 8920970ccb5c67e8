import type { ElementType } from '../schemas/vocabulary.ts'

/** One place of a sequence: an element that may repeat, or a choice of several. */
interface Particle {
  readonly options: readonly ElementType[]
  readonly required: boolean
}

const known = new WeakMap<ElementType, readonly Particle[]>()

function particlesOf(type: ElementType): readonly Particle[] {
  const there = known.get(type)
  if (there) return there
  const particles: { options: ElementType[]; required: boolean }[] = []
  let choice: readonly string[] | undefined
  for (const child of type.children) {
    const last = particles.at(-1)
    if (last && child.alternatives !== undefined && child.alternatives === choice) last.options.push(child)
    // The alternatives of a choice are optional each, but one of them must be there.
    else particles.push({ options: [child], required: child.required || child.alternatives !== undefined })
    choice = child.alternatives
  }
  known.set(type, particles)
  return particles
}

function most({ repeatable, most = Number.POSITIVE_INFINITY }: ElementType): number {
  return repeatable ? most : 1
}

/**
 * Follows the children of one element through the sequence that its type allows. A child that cannot stand where it is
 * changes nothing: the next one is judged as if it were not there.
 */
export class Sequence {
  readonly #particles: readonly Particle[]
  #at = 0
  #chosen: ElementType | undefined
  #count = 0

  constructor(type: ElementType) {
    this.#particles = particlesOf(type)
  }

  /** Goes on to a child of this name. @returns whether it can stand here */
  accept(name: string): boolean {
    if (this.#chosen?.name === name && this.#count < most(this.#chosen)) {
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
        return true
      }
      if (particle.required) return false
    }
    return false
  }

  /** The names of the elements that could come next. */
  expected(): readonly string[] {
    const names: string[] = []
    if (this.#chosen && this.#count < most(this.#chosen)) names.push(this.#chosen.name)
    for (const { options, required } of this.#particles.slice(this.#chosen ? this.#at + 1 : this.#at)) {
      names.push(...options.map(({ name }) => name))
      if (required) break
    }
    return names
  }
}
