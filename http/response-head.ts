import type { ServerResponse } from 'node:http'

/** Fields whose values differ from one response to the next, by their names. */
export interface ChangingFields {
  readonly 'x-request-id': string
  readonly ratelimit: string
}

const changing = /(?<=\r\n(date|x-request-id|ratelimit): )[^\r]*/gi

/** A response with such a field is not sent again: it ends its connection, its body is framed by Node, or it is for one client only. */
const single = /\r\n(connection: (?!keep-alive\r)|transfer-encoding:|set-cookie:)/i

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
  readonly #names: (keyof ChangingFields | 'date')[] = []
  /** In characters, with the values that it had. */
  readonly length: number

  /** @returns undefined if the response cannot be sent again */
  static of(response: ServerResponse): ResponseHead | undefined {
    const { _header: section } = response as WrittenHead
    return section && !single.test(section) ? new ResponseHead(section) : undefined
  }

  private constructor(section: string) {
    this.length = section.length
    let end = 0
    for (const { 0: value, 1: name = '', index } of section.matchAll(changing)) {
      this.#pieces.push(section.slice(end, index))
      this.#names.push(name.toLowerCase() as keyof ChangingFields | 'date')
      end = index + value.length
    }
    this.#pieces.push(section.slice(end))
  }

  /** The section as it is sent, with a character for each byte. */
  write(values: ChangingFields): string {
    const [pieces, names] = [this.#pieces, this.#names]
    let section = ''
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as keyof ChangingFields | 'date'
      section += pieces[i]
      section += name === 'date' ? dateNow() : values[name]
    }
    return section + pieces[names.length]
  }

  /** Names and values in turn, as `writeHead` takes them, without the fields that Node adds itself. */
  fields(values: ChangingFields): string[] {
    const lines = this.write(values).split('\r\n').slice(1, -2)
    return lines.flatMap((line) => {
      const colon = line.indexOf(': ')
      const name = line.slice(0, colon)
      return /^(date|connection|keep-alive)$/i.test(name) ? [] : [name, line.slice(colon + 2)]
    })
  }
}
