import type { DestinationStream } from 'pino'
import { type PrettyOptions, prettyFactory } from 'pino-pretty'

/** The parts of a line of the log that a person is shown; there are others. */
interface Line {
  readonly msg?: string
  readonly level?: number
  readonly req?: { readonly method?: string; readonly url?: string }
  readonly res?: { readonly statusCode?: number | null }
  readonly responseTime?: number
  readonly code?: string
  readonly detail?: string
  readonly products?: number
  readonly signal?: string
  readonly try?: readonly string[]
  readonly err?: { readonly stack?: string; readonly message?: string }
}

type Paint = (text: string) => string
type Colors = Readonly<Record<'green' | 'yellow' | 'red' | 'gray', Paint>>

const warning = 40

/** What a client sends is in the lines: nothing of it may move the cursor, change a colour, or look like another line. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
}

/**
 * The log for who sits in front of it: one readable line a request, and no field that only a machine needs. It gets the
 * lines of the other log, without the secrets that are taken out of those.
 */
export function terminalLog(to: DestinationStream, { colors }: { readonly colors: boolean }): DestinationStream {
  const options: PrettyOptions = {
    colorize: colors,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,level',
    hideObject: true,
    messageFormat: (log, _messageKey, _levelKey, { colors: paint }) => message(log as Line, paint as unknown as Colors)
  }
  const format = prettyFactory(options)
  return { write: (line) => to.write(format(line)) }
}

function message(line: Line, paint: Colors): string {
  const { msg = '', level = 0, err, products, signal } = line
  const text = line.req ? request(line, paint) : printable(msg)
  const urgency = level > warning ? `${paint.red('ERROR')} ` : level === warning ? `${paint.yellow('WARNING')} ` : ''
  const count = products === undefined ? '' : ` (${products} products)`
  const why = signal === undefined ? '' : ` (${signal})`
  const below = [...(line.try ?? []), ...(err ? (err.stack ?? err.message ?? '').split('\n') : [])]
  return `${urgency}${text}${count}${why}${below.map((one) => `\n  ${printable(one)}`).join('')}`
}

function request({ msg = '', req, res, responseTime = 0, code, detail }: Line, paint: Colors): string {
  const status = res?.statusCode ?? 0
  const outcome = msg === 'request completed' ? '' : ` (${msg})`
  const refusal = code === undefined ? '' : ` ${code}: ${printable(detail ?? '')}`
  const painted = status >= 500 ? paint.red : status >= 400 ? paint.yellow : paint.green
  const asked = printable(`${req?.method} ${req?.url}`)
  return `${asked} ${painted(String(status))} ${paint.gray(`${Math.round(responseTime)} ms`)}${outcome}${refusal}`
}
