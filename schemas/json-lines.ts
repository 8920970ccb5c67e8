import { stepsOf, unquote } from './json-text.ts'

/** A place that is looked for, or one around it. */
interface Wanted {
  readonly below: Map<string, Wanted>
  line?: number
}

/**
 * The lines on which values of a JSON text start, counted from 1. A place that does not exist has the line of the nearest value around it.
 * If a member is repeated, its last value counts, as in the value that `readJsonText` returns.
 *
 * It scans the text once more. To note the line of each value while it is read would cost time and memory for all the documents
 * that have no fault.
 * @param text a text that `readJsonText` has accepted
 * @param pointers JSON pointers (RFC 6901)
 */
export function linesAt(text: string, pointers: readonly string[]): readonly number[] {
  const root: Wanted = { below: new Map() }
  const wanted = pointers.map((pointer) => add(root, stepsOf(pointer)))
  new Scan(text).document(root)
  return wanted.map((around) => around.findLast(({ line }) => line !== undefined)?.line ?? 1)
}

/** @returns the place and all places around it, the outermost first */
function add(root: Wanted, steps: readonly string[]): readonly Wanted[] {
  const around = [root]
  let last = root
  for (const step of steps) {
    const next = last.below.get(step) ?? { below: new Map() }
    last.below.set(step, next)
    around.push(next)
    last = next
  }
  return around
}

const scalar = /[^\s,\]}]+/y

class Scan {
  readonly #text: string
  #at = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  document(root: Wanted): void {
    this.#skipWhiteSpace()
    this.#value(root)
  }

  #value(wanted: Wanted | undefined): void {
    if (wanted) wanted.line = this.#line
    const below = wanted && wanted.below.size > 0 ? wanted.below : undefined
    if (this.#text[this.#at] === '"') this.#string()
    else if (this.#take('{')) this.#members(below)
    else if (this.#take('[')) this.#elements(below)
    else this.#scalar()
    this.#skipWhiteSpace()
  }

  #members(wanted: Wanted['below'] | undefined): void {
    while (this.#text[this.#at] === '"') {
      const start = this.#at
      this.#string()
      const member = wanted?.get(unquote(this.#text.slice(start, this.#at)))
      this.#skipWhiteSpace()
      this.#take(':')
      this.#value(member)
      this.#take(',')
    }
    this.#at++
  }

  #elements(wanted: Wanted['below'] | undefined): void {
    for (let i = 0; this.#at < this.#text.length && this.#text[this.#at] !== ']'; i++) {
      this.#value(wanted?.get(String(i)))
      this.#take(',')
    }
    this.#at++
  }

  #string(): void {
    this.#at++
    while (this.#at < this.#text.length && this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === '\\' ? 2 : 1
    this.#at++
  }

  #scalar(): void {
    scalar.lastIndex = this.#at
    this.#at = scalar.test(this.#text) ? scalar.lastIndex : this.#at + 1
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    this.#skipWhiteSpace()
    return true
  }

  /** Strings have no line feeds, so all line feeds are between tokens. */
  #skipWhiteSpace(): void {
    for (; this.#text.charCodeAt(this.#at) <= 0x20; this.#at++) if (this.#text[this.#at] === '\n') this.#line++
  }
}
