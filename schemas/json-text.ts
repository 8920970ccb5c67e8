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

/**
 * Reads a JSON text (RFC 8259) for what JSON.parse keeps to itself: where a mistake is, in words of its own, and which
 * members an object has twice, of which JSON.parse would silently keep the last.
 * @returns JSON pointers of the repeated members
 * @throws JsonMistake
 */
export function repeatedMembers(text: string): readonly string[] {
  const reader = new Reader(text)
  reader.document()
  return [...reader.repeated]
}

class Reader {
  readonly repeated = new Set<string>()
  readonly #text: string
  readonly #path: (string | number)[] = []
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): void {
    this.#space()
    this.#value()
    if (this.#at < this.#text.length) throw this.#mistake('There is something behind the end of the document.')
  }

  #mistake(detail: string, offset = this.#at): JsonMistake {
    return new JsonMistake(offset, offset >= this.#text.length ? 'The document ends too early.' : detail)
  }

  #length(pattern: RegExp): number {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0].length ?? 0
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

  #value(): void {
    if (this.#path.length > maxDepth) throw this.#mistake(`Arrays and objects are nested more than ${maxDepth} deep.`)
    if (this.#text[this.#at] === '"') this.#string()
    else if (this.#take('{')) this.#members()
    else if (this.#take('[')) this.#elements()
    else {
      const length = this.#length(scalar)
      if (length === 0) throw this.#mistake('Here must be a value: a string in double quotes, an array, an object, or null.')
      this.#at += length
      this.#space()
    }
  }

  #members(): void {
    if (this.#take('}')) return
    const names = new Set<string>()
    do {
      if (this.#text[this.#at] !== '"') throw this.#mistake('Here must be the name of a member, in double quotes.')
      const written = this.#string()
      const name = written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
      this.#path.push(name)
      if (names.has(name)) this.repeated.add(pointer(this.#path))
      names.add(name)
      if (!this.#take(':')) throw this.#mistake('Here must be a colon.')
      this.#value()
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#mistake('Here must be a comma, or the } that closes the object.')
  }

  #elements(): void {
    if (this.#take(']')) return
    let position = 0
    do {
      this.#path.push(position++)
      this.#value()
      this.#path.pop()
    } while (this.#take(','))
    if (!this.#take(']')) throw this.#mistake('Here must be a comma, or the ] that closes the array.')
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
    const string = this.#text.slice(start, ++this.#at)
    this.#space()
    return string
  }
}
