import type { DestinationStream } from 'pino'
import { type PrettyOptions, prettyFactory } from 'pino-pretty'
import { requestCompleted } from './requests.ts'

/** The fields of a log line that the terminal shows. */
interface Line {
  readonly msg?: string
  readonly level?: number
  readonly req?: { readonly method?: string; readonly url?: string }
  readonly res?: { readonly statusCode?: number | null }
  readonly responseTime?: number
  readonly caller?: { readonly customer?: string }
  readonly code?: string
  readonly detail?: string
  readonly products?: number
  readonly signal?: string
  readonly try?: readonly string[]
  readonly err?: { readonly type?: string; readonly stack?: string; readonly message?: string }
}

type Paint = (text: string) => string
type Colors = Readonly<Record<'green' | 'yellow' | 'red' | 'gray', Paint>>

const warning = 40

/** Escapes control characters. Log lines contain client input, which must not move the cursor, change colours or fake a line. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
}

/**
 * A log for people at a terminal: one readable line per request, without the fields that only machines need. Its input is
 * the JSON log, in which secrets are already masked.
 */
export function terminalLog(to: DestinationStream, { colors }: { readonly colors: boolean }): DestinationStream {
  const options: PrettyOptions = {
    colorize: colors,
    translateTime: 'SYS:HH:MM:ss',
    // pino-pretty would show a caller in its own way, before the message.
    ignore: 'pid,hostname,level,caller',
    hideObject: true,
    messageFormat: (log, _messageKey, _levelKey, { colors: paint }) => message(log as Line, paint as unknown as Colors)
  }
  const format = prettyFactory(options)
  return { write: (line) => to.write(format(line)) }
}

function message(line: Line, paint: Colors): string {
  const { msg = '', level = 0, err, products, signal } = line
  const text = line.req ? request(line, paint) : `${printable(msg)}${refusal(line)}`
  const urgency = level > warning ? `${paint.red('ERROR')} ` : level === warning ? `${paint.yellow('WARNING')} ` : ''
  const count = products === undefined ? '' : ` (${products} products)`
  const why = signal === undefined ? '' : ` (${signal})`
  const details = [...(line.try ?? []), ...(err ? explanation(err) : [])]
  return `${urgency}${text}${count}${why}${details.map((one) => `\n  ${printable(one)}`).join('')}`
}

/** The lines that explain an error. The service throws a DomainError where it knows the reason, so that needs no stack. */
function explanation({ type, message = '', stack }: NonNullable<Line['err']>): readonly string[] {
  return type === 'DomainError' ? [message.replaceAll('.: ', ': ')] : (stack ?? message).split('\n')
}

function refusal({ code, detail = '' }: Line): string {
  return code === undefined ? '' : ` ${code}: ${printable(detail)}`
}

function request(line: Line, paint: Colors): string {
  const { msg = '', req, res, responseTime = 0, caller } = line
  const status = res?.statusCode ?? 0
  const outcome = msg === requestCompleted ? '' : ` (${msg})`
  const statusColor = status >= 500 ? paint.red : status >= 400 ? paint.yellow : paint.green
  const requestLine = printable(`${req?.method} ${req?.url}`)
  const customer = caller?.customer === undefined ? '' : ` for ${printable(caller.customer)}`
  return `${requestLine} ${statusColor(String(res?.statusCode ?? '-'))} ${paint.gray(`${Math.round(responseTime)} ms`)}${customer}${outcome}${refusal(line)}`
}
