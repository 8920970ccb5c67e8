import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { addCheck, addWait, checking } from '../../http/hooks.ts'

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

const stages = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'onSend'] as const

t.test('a request goes on after a check', async (t) => {
  const status = await statusWith(t, (app) => {
    for (const stage of stages) addCheck(app, stage, () => undefined)
    app.addHook(
      'preHandler',
      checking(() => undefined)
    )
  })
  t.equal(status, 200)
})

t.test('an error that a check throws refuses the request', async (t) => {
  for (const stage of ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const) {
    t.equal(await statusWith(t, (app) => addCheck(app, stage, refuse)), 418, stage)
  }
  t.equal(await statusWith(t, (app) => app.addHook('preHandler', checking(refuse))), 418, 'a hook of its own')
})

t.test('an error that a check throws before the response is sent replaces the response', async (t) => {
  let sent = 0
  const refuseFirst = () => {
    sent += 1
    if (sent === 1) refuse()
  }
  t.equal(await statusWith(t, (app) => addCheck(app, 'onSend', refuseFirst)), 418)
})

t.test('the steps of a stage run in the order in which they were added, also behind one that waits', async (t) => {
  const ran: string[] = []
  const status = await statusWith(t, (app) => {
    addCheck(app, 'onRequest', () => ran.push('first'))
    addWait(app, 'onRequest', (_request, _reply, next) => {
      setImmediate(() => {
        ran.push('waited')
        next()
      })
    })
    addWait(app, 'onRequest', (_request, _reply, next) => {
      ran.push('did not wait')
      next()
    })
    addCheck(app, 'onRequest', () => ran.push('last'))
    addCheck(app, 'preHandler', () => ran.push('before the handler'))
  })
  t.equal(status, 200)
  t.same(ran, ['first', 'waited', 'did not wait', 'last', 'before the handler'])
})

t.test('no step runs after one that refuses the request, or sends the response itself', async (t) => {
  const notReached = () => t.fail('a step ran')
  const refuseLater = (app: FastifyInstance) => {
    addWait(app, 'onRequest', (_request, _reply, next) => setImmediate(() => next(new Error('refused'))))
    addCheck(app, 'onRequest', notReached)
  }
  t.equal(await statusWith(t, refuseLater), 418)
  const refuseBehindWait = (app: FastifyInstance) => {
    addWait(app, 'onRequest', (_request, _reply, next) => setImmediate(next))
    addCheck(app, 'onRequest', refuse)
    addCheck(app, 'onRequest', notReached)
  }
  t.equal(await statusWith(t, refuseBehindWait), 418)
  const send = (app: FastifyInstance) => {
    addWait(app, 'onRequest', (_request, reply) => reply.code(204).send())
    addCheck(app, 'onRequest', notReached)
  }
  t.equal(await statusWith(t, send), 204)
})

t.test('a check before sending gets the payload of the response', async (t) => {
  const payloads: unknown[] = []
  await statusWith(t, (app) => addCheck(app, 'onSend', (_request, _reply, payload) => payloads.push(payload)))
  t.same(payloads, ['reached'])
})
