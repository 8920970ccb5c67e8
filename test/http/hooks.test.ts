import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { checking, checkingPayload } from '../../http/hooks.ts'

async function statusWith(t: Test, add: (app: FastifyInstance) => void): Promise<number> {
  const app = Fastify()
  t.teardown(() => app.close())
  app.setErrorHandler(async (error: Error, _request, reply) => reply.code(418).send(error.message))
  add(app)
  app.get('/', async () => 'reached')
  const { statusCode } = await app.inject('/')
  return statusCode
}

function refuse(): never {
  throw new Error('refused')
}

t.test('a request goes on after a check', async (t) => {
  const status = await statusWith(t, (app) => {
    app.addHook(
      'onRequest',
      checking(() => undefined)
    )
    app.addHook(
      'preParsing',
      checkingPayload(() => undefined)
    )
    app.addHook(
      'preHandler',
      checking(() => undefined)
    )
    app.addHook(
      'onSend',
      checkingPayload(() => undefined)
    )
  })
  t.equal(status, 200)
})

t.test('an error that a check throws refuses the request', async (t) => {
  for (const hook of ['onRequest', 'preValidation', 'preHandler'] as const) {
    t.equal(await statusWith(t, (app) => app.addHook(hook, checking(refuse))), 418, hook)
  }
  t.equal(await statusWith(t, (app) => app.addHook('preParsing', checkingPayload(refuse))), 418, 'preParsing')
})

t.test('an error that a check throws before the response is sent replaces the response', async (t) => {
  let sent = 0
  const refuseFirst = () => {
    sent += 1
    if (sent === 1) refuse()
  }
  t.equal(await statusWith(t, (app) => app.addHook('onSend', checkingPayload(refuseFirst))), 418)
})
