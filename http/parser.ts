import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Only an error of the parser itself has `bytesParsed`. */
export type ParserError = Error & { readonly code: string; readonly bytesParsed?: number }

/** The number of parsed bytes, or an error, which is also how the parser says that it pauses. */
export type ParserResult = number | ParserError

/**
 * Node's parser of a connection, as `http.Server` sets it up. Node does not document it. Its other callbacks have numbers as
 * names.
 */
export interface Parser extends Record<string, unknown> {
  /** When it returns 2, llhttp stops parsing. */
  onIncoming(request: IncomingMessage, keepAlive: boolean): number
  execute(bytes: Buffer): ParserResult
  resume(): void
}

export function parserOf(socket: Socket): Parser | undefined {
  return (socket as Socket & { readonly parser?: Parser | null }).parser ?? undefined
}

/** Returns the key of the callback whose function has this name in Node, or undefined in a version of Node that has no such function. */
export function callbackKey(parser: Parser, functionName: string): string | undefined {
  return Object.keys(parser).find((key) => (parser[key] as { readonly name?: string } | null)?.name === functionName)
}
