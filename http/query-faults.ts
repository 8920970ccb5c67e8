/** Says in the words of the shop what is wrong with the parameters of a query. Ajv finds the faults. */

import type { LocatedFault } from '../schemas/document.ts'
import { shorten } from '../schemas/shorten.ts'
import { notAnInstant } from './dates.ts'
import { notACursor } from './paging.ts'
import { Problem } from './problem.ts'

/** The JSON Schema of one parameter, as far as a message needs it. */
interface Parameter {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly format?: string
  readonly items?: Parameter
}

export type Parameters = Readonly<Record<string, Parameter>>

/** A fault as Ajv reports it. `data` is the value, and `/type/0` the path of the first value of `type`. */
export interface AjvFault {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  readonly data?: unknown
}

/** The refusal of a query. If a parameter is unknown, it lists the known ones. */
export function refusedQuery(parameters: Parameters, found: readonly AjvFault[]): Problem {
  const faults = new Map<string, LocatedFault>()
  const known = Object.keys(parameters)
  const isUnknown = ({ keyword }: AjvFault) => keyword === 'additionalProperties'
  for (const fault of found) {
    const name = isUnknown(fault) ? String(fault.params['additionalProperty']) : (fault.instancePath.split('/')[1] ?? '')
    const detail = isUnknown(fault)
      ? `There is no parameter ${JSON.stringify(shorten(name))}.`
      : detailOf(name, parameters[name] ?? {}, fault)
    faults.set(`${name} ${detail}`, { detail, path: name })
  }
  const all = [...faults.values()]
  const detail = all.map((fault) => fault.detail).join(' ')
  if (!found.some(isUnknown)) return new Problem('malformed-request', detail, { faults: all })
  if (known.length === 0) return new Problem('malformed-request', `${detail} This resource takes none.`, { faults: all })
  return new Problem('malformed-request', `${detail} The parameters are ${known.join(', ')}.`, { faults: all, available: known })
}

function detailOf(name: string, parameter: Parameter, { instancePath, keyword, data }: AjvFault): string {
  if (parameter.type !== 'array' && Array.isArray(data)) return `${name} occurs more than once. Send it once.`
  const one = parameter.items ?? parameter
  if (one.format === 'date-time') return notAnInstant(name, String(data))
  if (one.type === 'integer') return `${name} must be a whole number from ${one.minimum} to ${one.maximum}.`
  if (one.type === 'boolean') return `${name} must be true or false.`
  if (keyword === 'maxItems') return `${name} may occur at most ${parameter.maxItems} times.`
  if (one.enum) return `${name} must be one of ${one.enum.join(', ')}${isQuotable(data) ? `, not ${JSON.stringify(shorten(data))}` : ''}.`
  if (keyword === 'minLength') return `${name} is empty. Give it a value, or leave it out.`
  if (keyword === 'maxLength') return `${name} may have at most ${one.maxLength} characters.`
  if (name === 'after') return notACursor().message
  const value = isQuotable(data) ? JSON.stringify(shorten(data)) : instancePath
  return `${value} is not a value that ${name} can have.`
}

function isQuotable(data: unknown): data is string {
  return typeof data === 'string' && data !== ''
}
