import { defined } from '../domain/defined.ts'
import { ecmaPattern } from '../schemas/patterns.ts'
import type { SimpleType } from '../schemas/vocabulary.ts'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** `in`: in a request. `out`: in a response. `blank`: in a response, as a blank to fill in whose values are not valid yet. */
export type Direction = 'in' | 'out' | 'blank'

/** The lexical forms of built-in types that are used without restrictions. */
const builtIn: Readonly<Record<string, JsonSchema>> = {
  'xs:dateTime': { format: 'date-time' },
  'xs:anyURI': { format: 'uri-reference' },
  'xs:decimal': { pattern: '^-?[0-9]+(?:\\.[0-9]+)?$' },
  'xs:positiveInteger': { pattern: '^[1-9][0-9]*$' }
}

/** The JSON Schema of a text. Numbers are strings too, so that no digit is lost. */
export function textSchema(type: SimpleType, direction: Direction): JsonSchema {
  if (direction === 'blank') return { type: 'string' }
  const patterns = type.patterns.map((pattern) => ({ pattern: ecmaPattern(pattern) }))
  return {
    type: 'string',
    // Only the server sets values of built-in types. In requests they are ignored, so their form does not matter.
    ...(direction === 'out' && patterns.length === 0 ? builtIn[type.base] : {}),
    ...(patterns.length > 1 ? { anyOf: patterns } : patterns[0]),
    ...(type.values.length > 0 ? { enum: type.values } : {}),
    ...defined({ minLength: type.minLength, maxLength: type.maxLength })
  }
}

/**
 * The JSON Schema of a plain number, with bounds derived from its patterns. JSON Schema cannot limit the number of digits.
 * The service reads the number's text, so it refuses exponents.
 */
export function numberSchema({ base, patterns }: SimpleType, isPositive: boolean): JsonSchema {
  if (base === 'xs:positiveInteger') return { type: 'integer', minimum: 1 }
  const type = base === 'xs:decimal' ? 'number' : 'integer'
  const [, sign, more] = /^(-\?)?\(0\|\[1-9\]\[0-9\]\{0,(\d+)\}\)/.exec(patterns[0] ?? '') ?? []
  if (more === undefined) return { type }
  const bound = 10 ** (Number(more) + 1)
  const least = isPositive ? { exclusiveMinimum: 0 } : sign ? { exclusiveMinimum: -bound } : { minimum: 0 }
  return { type, ...least, exclusiveMaximum: bound }
}

/** Joins annotations of the XSD to a description, as sentences. */
export function described(...phrases: readonly (string | undefined)[]): { description?: string } {
  const sentences = phrases.flatMap((phrase) =>
    phrase ? [`${phrase.slice(0, 1).toUpperCase()}${phrase.slice(1)}${/[.!?]$/.test(phrase) ? '' : '.'}`] : []
  )
  return sentences.length === 0 ? {} : { description: sentences.join(' ') }
}
