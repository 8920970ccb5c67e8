import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { guest, mayListOrders } from '../domain/caller.ts'
import { keyPrefix } from '../http/masked-names.ts'
import { unsupported } from '../http/media-types.ts'
import { localPath } from '../http/origin.ts'
import { Problem } from '../http/problem.ts'
import { sessionSeconds } from '../plugins/session.ts'
import { uris } from '../representations/links.ts'
import { type SignIn, sessionRepresentations } from '../representations/session.ts'
import { formMediaType } from '../schemas/form.ts'
import type { RoutePlugin } from './route.ts'

/** The page and the forms that sign a person in and out. The server keeps no session state (see plugins/session.ts). */
const session: RoutePlugin = async (app, { config }) => {
  const base = config.BASE_URL.path
  const uri = uris(base)
  const shown = { represents: sessionRepresentations, caching: 'never', signsIn: true } as const

  app.get('/session', { config: { ...shown, describes: getSession } }, async (request, reply) => {
    const next = localPath(new URL(request.url, 'http://localhost').searchParams.get('next'), base)
    return reply.represent({ ...formOf(request, next), caller: request.caller } satisfies SignIn)
  })

  app.post('/session', { config: { ...shown, form: { redirects: false }, describes: signIn } }, async (request, reply) => {
    const fields = request.form()
    if (!fields) {
      throw unsupported(
        request,
        'This address takes only the sign-in form. Programs send their key in the Authorization header field instead.',
        [formMediaType]
      )
    }
    const { method } = request.operation
    const next = localPath(fields.get('next'), base)
    if (method === 'DELETE') return reply.signOut().redirect(next ?? uri.session, 303)
    if (method !== 'POST') throw new Problem('malformed-request', '_method must be DELETE, to sign out. To sign in, leave it out.')
    const key = (fields.get('key') ?? '').trim()
    const caller = await request.callerOfKey(key)
    if (caller) return reply.signIn(key).redirect(next ?? (mayListOrders(caller) ? uri.orders : uri.session), 303)
    const wrong = key === '' ? 'Enter the key.' : 'This key is not valid: it is unknown, expired or revoked.'
    return reply.code(422).represent({ ...formOf(request, next), caller: guest, wrong } satisfies SignIn)
  })

  app.delete('/session', { config: { ...shown, describes: signOut } }, async (_request, reply) => {
    return reply.signOut().header('cache-control', app.cachePolicies.never).code(204).send()
  })
}

/** The data of the sign-in form, apart from the caller. */
function formOf({ caller, signedInKey }: FastifyRequest, next: string | undefined): Omit<SignIn, 'caller' | 'wrong'> {
  return { next, isSignedOut: signedInKey !== undefined && caller.kind === 'guest', keyPrefix, sessionSeconds }
}

const getSession = { id: 'getSession', summary: 'The page to sign in and out', answers: { 200: 'The page.' } } as const
const signIn = {
  id: 'signIn',
  summary: 'Sign in as a person',
  answers: { 303: 'To the orders, or to where the person came from.', 422: 'The page again: the key is not valid.' },
  reads: {
    required: true,
    fields: {
      key: 'The API key of the person.',
      next: 'The path of the page to show afterwards.',
      _method: '`DELETE` signs the person out. To sign in, leave it out.'
    }
  }
} as const
const signOut = { id: 'signOut', summary: 'Sign out', answers: { 204: 'Signed out.' } } as const

export default fp(session, {
  name: 'session-pages',
  encapsulate: true,
  dependencies: ['representation', 'session', 'auth', 'form-requests']
})
