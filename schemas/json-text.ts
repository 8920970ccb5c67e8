import { documentLimits } from './document-limits.ts'
import { shorten } from './shorten.ts'
import { Numeral, type Tree } from './tree.ts'

/** The text is not JSON. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  readonly offset: number

  constructor(offset: number, detail: string) {
    super(detail)
    this.offset = offset
  }
}

/** Repeated members that are reported. One is enough to refuse the document. */
const maxRepeated = 100

/** Characters of a JSON pointer that are kept: member names can be megabytes long. */
const maxPointer = 256

const whiteSpace = /[ \t\r\n]*/y
const scalarValue = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y
const leadingZero = /-?0\d/y
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

const valueMessage = 'Expected a value: a string in double quotes, a number, an array, an object, true, false or null.'
const zeroMessage = 'A number must not begin with 0 before another digit: write 7, not 07.'

/** Writes a JSON pointer (RFC 6901). */
export function pointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The member names and positions of a JSON pointer. */
export function stepsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The text of a string as it is written, in double quotes. */
export function unquote(written: string): string {
  return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
}

interface JsonReading {
  readonly value: Tree
  /** JSON pointers of members that occur more than once in their object: the first hundred, shortened. The value has the last of each. */
  readonly repeated: readonly string[]
}

/**
 * Reads a JSON text (RFC 8259). Unlike JSON.parse it says where an error is, keeps numbers as they are written, and
 * reports members that occur more than once in their object.
 * @param mostValues how many values it may have: a million empty arrays are 2 MB of text, and take 220 MB of memory
 * @throws JsonSyntaxError with the offset
 */
export function readJsonText(text: string, mostValues = Number.POSITIVE_INFINITY): JsonReading {
  const reader = new Reader(text, mostValues)
  return { value: reader.document(), repeated: [...reader.repeated] }
}

class Reader {
  readonly repeated = new Set<string>()
  readonly #text: string
  readonly #path: (string | number)[] = []
  #at = 0
  #repeatCount = 0
  readonly #mostValues: number
  #values = 0

  constructor(text: string, mostValues: number) {
    this.#text = text
    this.#mostValues = mostValues
  }

  document(): Tree {
    this.#skipWhiteSpace()
    const value = this.#value()
    if (this.#at < this.#text.length) throw this.#syntaxError('There is something after the end of the document.')
    return value
  }

  #syntaxError(detail: string): JsonSyntaxError {
    return new JsonSyntaxError(this.#at, this.#at >= this.#text.length ? 'The document ends too early.' : detail)
  }

  #length(pattern: RegExp): number {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text) ? pattern.lastIndex - this.#at : 0
  }

  #skipWhiteSpace(): void {
    if (this.#text.charCodeAt(this.#at) <= 0x20) this.#at += this.#length(whiteSpace)
  }

  /** Consumes a character and the white space after it, if it is the next one. */
  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    this.#skipWhiteSpace()
    return true
  }

  #value(): Tree {
    if (this.#path.length > documentLimits.depth)
      throw this.#syntaxError(`Arrays and objects are nested more than ${documentLimits.depth} deep.`)
    if (++this.#values > this.#mostValues)
      throw this.#syntaxError(`The document has more than ${this.#mostValues} values. Send it in several documents.`)
    if (this.#text[this.#at] === '"') return this.#string()
    if (this.#take('{')) return this.#members()
    if (this.#take('[')) return this.#elements()
    const start = this.#at
    this.#at += this.#length(scalarValue)
    if (this.#at === start) throw this.#syntaxError(this.#length(leadingZero) > 0 ? zeroMessage : valueMessage)
    const written = this.#text.slice(start, this.#at)
    this.#skipWhiteSpace()
    if (written === 'true' || written === 'false') return written === 'true'
    return written === 'null' ? null : new Numeral(written)
  }

  #members(): Tree {
    const members: { [name: string]: Tree } = {}
    if (this.#take('}')) return members
    do {
      if (this.#text[this.#at] !== '"') throw this.#syntaxError('Expected the name of a member in double quotes.')
      const name = this.#string()
      this.#path.push(name)
      if (Object.hasOwn(members, name)) this.#recordRepeat()
      if (!this.#take(':')) throw this.#syntaxError('Expected a colon.')
      const value = this.#value()
      // An assignment to __proto__ would set the object's prototype.
      if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
      else members[name] = value
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#syntaxError('Expected a comma, or the } that closes the object.')
    return members
  }

  /** Pointers are made only for the members that are reported: an attacker may repeat one a hundred thousand times. */
  #recordRepeat(): void {
    if (this.#repeatCount++ >= maxRepeated) return
    let place = ''
    for (const step of this.#path) {
      if (place.length > maxPointer) break
      place += pointer([typeof step === 'string' ? shorten(step, maxPointer) : step])
    }
    this.repeated.add(shorten(place, maxPointer))
  }

  #elements(): Tree {
    const elements: Tree[] = []
    if (this.#take(']')) return elements
    do {
      this.#path.push(elements.length)
      elements.push(this.#value())
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take(']')) throw this.#syntaxError('Expected a comma, or the ] that closes the array.')
    return elements
  }

  #string(): string {
    const start = this.#at++
    for (; this.#text[this.#at] !== '"'; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      // At the end of the text, the code is NaN.
      if (!(code >= 0x20)) throw this.#syntaxError('A line end or control character in a string must be escaped.')
      if (code !== 0x5c) continue
      const length = this.#length(escapeSequence)
      if (length === 0)
        throw this.#syntaxError('A backslash in a string must be followed by one of " \\ / b f n r t, or u and four digits.')
      this.#at += length - 1
    }
    const written = this.#text.slice(start, ++this.#at)
    this.#skipWhiteSpace()
    return unquote(written)
  }
}
