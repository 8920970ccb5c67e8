import fp from 'fastify-plugin'
import { Problem } from '../http/problem.ts'
import type { ProblemCode } from '../http/problem-codes.ts'
import { problemTypes } from '../http/problem-types.ts'
import { uris } from '../representations/links.ts'
import { problemTypeRepresentations } from '../representations/problem.ts'
import { pathParameters } from './parameters.ts'
import type { RoutePlugin } from './route.ts'

const problemPath = pathParameters({ code: { description: 'The last segment of a problem type.' } })

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problemTypes, code)
}

const describes = {
  id: 'getProblemType',
  summary: 'What a problem type means',
  answers: { 200: 'The explanation, in the form of a problem.' }
} as const

/** Every problem type's URI answers with what it means and what to do. */
const problems: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)
  app.get(
    '/problems/:code',
    { schema: { params: problemPath }, config: { represents: problemTypeRepresentations, caching: 'catalogue', describes } },
    async (request, reply) => {
      const { code } = request.params
      if (!isProblemCode(code)) throw new Problem('not-found', 'There is no problem type of this name.')
      const { status, title, explanation } = problemTypes[code]
      return reply.represent({ type: uri.problem(code), title, status, detail: explanation, instance: uri.problem(code) })
    }
  )
}

export default fp(problems, { name: 'problem-pages', encapsulate: true, dependencies: ['representation'] })
