import AjvCompiler from '@fastify/ajv-compiler'
import type { FastifySchemaCompiler } from 'fastify'
import { type AjvFault, type Parameters, refusedQuery } from './query-faults.ts'

type Validator = ReturnType<FastifySchemaCompiler<unknown>>
type Validate = ((given: unknown) => boolean) & { errors?: readonly AjvFault[] | null }

/** The schemas are constants of the code, so there are few of them, and services of one process share their validators. */
const compiled = new Map<string, Validate>()

let compiler: ((route: { readonly schema: unknown }) => Validate) | undefined

function makeCompiler() {
  const customOptions = {
    allErrors: true,
    removeAdditional: false as const,
    coerceTypes: 'array' as const,
    verbose: true,
    // Checking the schemas themselves takes half of the time. The tests of the OpenAPI document, which quotes them, check them.
    meta: false,
    validateSchema: false
  }
  return AjvCompiler()({}, { customOptions }) as unknown as NonNullable<typeof compiler>
}

/** Compiles at the first use. Compiling the schemas of all routes took a tenth of the service's start. */
function validatorOf(schema: unknown): Validate {
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  if (known) return known
  compiler ??= makeCompiler()
  const made = compiler({ schema })
  compiled.set(text, made)
  return made
}

/**
 * The validator of a query's JSON Schema, by Ajv. For an integer it requires digits: Ajv accepts everything that JavaScript
 * converts to a number, such as `0x10`, `1e2` and ` 1`.
 */
export function jsonValidator(schema: unknown): Validator {
  const { properties = {} } = schema as { properties?: Parameters }
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer')
  let validate: Validate | undefined
  return (given: Readonly<Record<string, unknown>>) => {
    const malformed = integers.filter((name) => typeof given?.[name] === 'string' && !/^-?\d+$/.test(given[name]))
    const faults = malformed.map((name) => ({ instancePath: `/${name}`, keyword: 'type', params: {}, data: given[name] }))
    if (faults.length > 0) return { error: refusedQuery(properties, faults) }
    validate ??= validatorOf(schema)
    return validate(given) || { error: refusedQuery(properties, validate.errors ?? []) }
  }
}
