import { Numeral, type Tree } from './tree.ts'

/** A text that is not JSON, and where. */
export class JsonMistake extends Error {
  override readonly name = 'JsonMistake'
  readonly offset: number

  constructor(offset: number, detail: string) {
    super(detail)
    this.offset = offset
  }
}

/** Far beyond any document of this service. */
const maxDepth = 100

const space = /[ \t\r\n]*/y
const scalar = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** A JSON pointer (RFC 6901). */
export function pointer(steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

interface JsonReading {
  readonly value: Tree
  /** JSON pointers of members that an object has twice, of which the value holds the last. */
  readonly repeated: readonly string[]
}

/**
 * Reads a JSON text (RFC 8259) with what JSON.parse keeps to itself: where a mistake is, in words of its own, numbers as
 * they are written, and which members an object has twice.
 * @throws JsonMistake
 */
export function readJsonText(text: string): JsonReading {
  const reader = new Reader(text)
  return { value: reader.document(), repeated: [...reader.repeated] }
}

class Reader {
  readonly repeated = new Set<string>()
  readonly #text: string
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Tree {
    this.#space()
    const value = this.#value()
    if (this.#at < this.#text.length) throw this.#mistake('There is something behind the end of the document.')
    return value
  }

  #mistake(detail: string, offset = this.#at): JsonMistake {
    return new JsonMistake(offset, offset >= this.#text.length ? 'The document ends too early.' : detail)
  }

  #length(pattern: RegExp): number {
    pattern.lastIndex = this.#at
    return pattern.test(this.#text) ? pattern.lastIndex - this.#at : 0
  }

  #space(): void {
    if (this.#text.charCodeAt(this.#at) <= 0x20) this.#at += this.#length(space)
  }

  /** Goes over a character and the white space behind it, if it is the next one. */
  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    this.#space()
    return true
  }

  #value(): Tree {
    if (this.#path.length > maxDepth) throw this.#mistake(`Arrays and objects are nested more than ${maxDepth} deep.`)
    if (this.#text[this.#at] === '"') return this.#string()
    if (this.#take('{')) return this.#members()
    if (this.#take('[')) return this.#elements()
    const start = this.#at
    this.#at += this.#length(scalar)
    if (this.#at === start) throw this.#mistake('Here must be a value: a string in double quotes, a number, an array, an object, or null.')
    const written = this.#text.slice(start, this.#at)
    this.#space()
    if (written === 'true' || written === 'false') return written === 'true'
    return written === 'null' ? null : new Numeral(written)
  }

  #members(): Tree {
    const members: { [name: string]: Tree } = {}
    if (this.#take('}')) return members
    do {
      if (this.#text[this.#at] !== '"') throw this.#mistake('Here must be the name of a member, in double quotes.')
      const name = this.#string()
      this.#path.push(name)
      if (Object.hasOwn(members, name)) this.repeated.add(pointer(this.#path))
      if (!this.#take(':')) throw this.#mistake('Here must be a colon.')
      const value = this.#value()
      // An assignment would take this name for the object's prototype.
      if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true })
      else members[name] = value
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#mistake('Here must be a comma, or the } that closes the object.')
    return members
  }

  #elements(): Tree {
    const elements: Tree[] = []
    if (this.#take(']')) return elements
    do {
      this.#path.push(elements.length)
      elements.push(this.#value())
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take(']')) throw this.#mistake('Here must be a comma, or the ] that closes the array.')
    return elements
  }

  #string(): string {
    const start = this.#at++
    for (; this.#text[this.#at] !== '"'; this.#at++) {
      const code = this.#text.charCodeAt(this.#at)
      // NaN at the end of the text.
      if (!(code >= 0x20)) throw this.#mistake('A line end or control character in a string must be escaped.')
      if (code !== 0x5c) continue
      const length = this.#length(escaped)
      if (length === 0) throw this.#mistake('A backslash in a string must be followed by one of " \\ / b f n r t, or u and four digits.')
      this.#at += length - 1
    }
    const written = this.#text.slice(start, ++this.#at)
    this.#space()
    return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
  }
}
