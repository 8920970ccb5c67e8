import type { ServerResponse } from 'node:http'

/** Fields whose values differ from one response to the next, by their names. */
export interface ChangingFields {
  readonly 'x-request-id': string
  readonly ratelimit: string
}

type ChangingName = keyof ChangingFields | 'date'

const changingNames: readonly string[] = ['x-request-id', 'ratelimit', 'date'] satisfies ChangingName[]

/** Fields that Node adds itself. */
const ofNode: readonly string[] = ['date', 'connection', 'keep-alive']

/** A property of Node's OutgoingMessage that its types lack: the header section as it is sent. */
interface WrittenHead {
  readonly _header?: string | null
}

let date = { second: 0, text: '' }

/** The current time for the Date field. */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() }
  return date.text
}

/** The header section of a response, exactly as Node wrote it, to send it again with other values of the changing fields. */
export class ResponseHead {
  /** The section without the values that change. They go between these pieces. */
  readonly #pieces: string[] = []
  readonly #changing: ChangingName[] = []
  /** Names and values in turn, without Node's own fields. */
  readonly #fields: string[] = []
  /** Where the fields have a value that changes. */
  readonly #indexes: { readonly at: number; readonly name: keyof ChangingFields }[] = []

  /** @returns undefined if the header section cannot be sent again: it ends its connection, or sets a cookie */
  static of(response: ServerResponse): ResponseHead | undefined {
    const { _header: section } = response as WrittenHead
    return section && !/\r\n(connection: close|set-cookie:)/i.test(section) ? new ResponseHead(section) : undefined
  }

  private constructor(section: string) {
    const [statusLine = '', ...lines] = section.split('\r\n')
    let piece = `${statusLine}\r\n`
    for (const line of lines.slice(0, -2)) {
      const colon = line.indexOf(': ')
      const [field, value] = [line.slice(0, colon), line.slice(colon + 2)]
      const name = field.toLowerCase()
      const changes = changingNames.includes(name)
      if (!ofNode.includes(name)) {
        this.#fields.push(field, value)
        if (changes) this.#indexes.push({ at: this.#fields.length - 1, name: name as keyof ChangingFields })
      }
      piece += changes ? `${field}: ` : `${line}\r\n`
      if (!changes) continue
      this.#changing.push(name as ChangingName)
      this.#pieces.push(piece)
      piece = '\r\n'
    }
    this.#pieces.push(`${piece}\r\n`)
  }

  /** The section as it is sent, with a character for each byte. */
  write(values: ChangingFields): string {
    const [pieces, changing] = [this.#pieces, this.#changing]
    let section = ''
    for (let i = 0; i < changing.length; i++) {
      const name = changing[i] as ChangingName
      section += pieces[i]
      section += name === 'date' ? dateNow() : values[name]
    }
    return section + pieces[changing.length]
  }

  /** The fields as `writeHead` takes them, without those that Node adds. */
  fields(values: ChangingFields): string[] {
    const fields = this.#fields.slice()
    for (const { at, name } of this.#indexes) fields[at] = values[name]
    return fields
  }
}
