import type { SimpleType } from '../schemas/vocabulary.ts'
import { ecmaPattern } from './patterns.ts'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Whether a client sends the document, the service does, or it is a blank to fill in, of which no value is valid yet. */
export type Way = 'in' | 'out' | 'blank'

/** Lexical forms of the built-in types that are used as they are. */
const builtIn: Readonly<Record<string, JsonSchema>> = {
  'xs:dateTime': { format: 'date-time' },
  'xs:anyURI': { format: 'uri-reference' },
  'xs:decimal': { pattern: '^-?[0-9]+(?:\\.[0-9]+)?$' },
  'xs:positiveInteger': { pattern: '^[1-9][0-9]*$' }
}

/** A text in JSON: a string, also of digits, so that none of them is lost. */
export function textSchema(type: SimpleType, way: Way): JsonSchema {
  if (way === 'blank') return { type: 'string' }
  const patterns = type.patterns.map((pattern) => ({ pattern: ecmaPattern(pattern) }))
  return {
    type: 'string',
    // What has a built-in type is the server's to say: on the way in it is ignored.
    ...(way === 'out' && patterns.length === 0 ? builtIn[type.base] : {}),
    ...(patterns.length > 1 ? { anyOf: patterns } : patterns[0]),
    ...(type.values.length > 0 ? { enum: type.values } : {}),
    ...(type.minLength === undefined ? {} : { minLength: type.minLength }),
    ...(type.maxLength === undefined ? {} : { maxLength: type.maxLength })
  }
}

/**
 * What a number may be where it is not written as a string: as far as its patterns bound it, since JSON Schema knows no
 * number of digits. It is read as it is written, so that an exponent is refused.
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

/** The schema's own annotations, as sentences. */
export function described(...phrases: readonly (string | undefined)[]): { description?: string } {
  const sentences = phrases.flatMap((phrase) =>
    phrase ? [`${phrase.slice(0, 1).toUpperCase()}${phrase.slice(1)}${/[.!?]$/.test(phrase) ? '' : '.'}`] : []
  )
  return sentences.length === 0 ? {} : { description: sentences.join(' ') }
}
