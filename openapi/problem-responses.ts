import type { ProblemCode } from '../http/problem-codes.ts'
import { problemTypes } from '../http/problem-types.ts'
import type { Reference, Response } from '../representations/api-description.ts'
import { uris } from '../representations/links.ts'
import { problemRepresentations } from '../representations/problem.ts'
import { type ResponseField, responseFields } from './fields.ts'
import type { JsonSchema } from './texts.ts'

export interface ProblemResponses {
  /** References to the responses for these problems, by status. */
  refs(codes: Iterable<ProblemCode>): Readonly<Record<string, Reference>>
  /** A reference to one response for all these problems, with any status. */
  any(codes: readonly ProblemCode[]): Reference
  readonly responses: Readonly<Record<string, Response>>
}

const fieldsByStatus: Readonly<Record<number, readonly ResponseField[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['Location'],
  415: ['Accept', 'Accept-Post'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After']
}

const fieldsByCode: Partial<Record<ProblemCode, readonly ResponseField[]>> = { 'cursor-expired': ['Link'] }

/** Makes one response for each set of problem types. Operations share them. */
export function makeProblemResponses(base: string, problem: JsonSchema): ProblemResponses {
  const responses: Record<string, Response> = {}
  const uri = uris(base)

  function response(codes: readonly ProblemCode[], status?: number): Response {
    const types = codes.map(uri.problem)
    const schema = {
      allOf: [problem, { properties: { type: { enum: types }, ...(status === undefined ? {} : { status: { const: status } }) } }]
    }
    const content = problemRepresentations.map(({ mediaType }) => [
      mediaType,
      { schema: mediaType === 'text/html' ? { type: 'string' } : schema }
    ])
    return {
      description: codes.map((code) => `[${problemTypes[code].title}](${uri.problem(code)}).`).join(' '),
      ...responseFields([
        ...((status && fieldsByStatus[status]) || []),
        ...codes.flatMap((code) => fieldsByCode[code] ?? []),
        'X-Request-Id'
      ]),
      content: Object.fromEntries(content)
    }
  }

  function keep(codes: readonly ProblemCode[], status?: number): Reference {
    const name = codes.join('.')
    responses[name] ??= response(codes, status)
    return { $ref: `#/components/responses/${name}` }
  }

  return {
    responses,
    any: (codes) => keep(codes),
    refs(codes) {
      const byStatus = new Map<number, ProblemCode[]>()
      for (const code of new Set(codes)) {
        const { status } = problemTypes[code]
        byStatus.set(status, [...(byStatus.get(status) ?? []), code].sort())
      }
      const refs = [...byStatus]
        .sort(([a], [b]) => a - b)
        .map(([status, group]): [string, Reference] => [String(status), keep(group, status)])
      return Object.fromEntries(refs)
    }
  }
}
