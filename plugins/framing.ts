import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { hasBody } from '../http/body.ts'
import { checkFields } from '../http/header-fields.ts'
import { addCheck, addWait } from '../http/hooks.ts'
import { methodOrder } from '../http/methods.ts'
import { isAboutServer, targetRefusal } from '../http/targets.ts'

/** After a refusal, up to this multiple of BODY_LIMIT is read and discarded, so that the client can read the response. */
const maxDiscardFactor = 4

/** Checks what RFC 9112 requires of every request: target, Host and framing. */
export default fp(
  async function framing(app: FastifyInstance, { config }: { config: Config }) {
    addCheck(app, 'onRequest', ({ raw }) => {
      checkFields(raw)
      const refusal = targetRefusal(raw)
      if (refusal) throw refusal
    })
    addWait(app, 'onRequest', ({ raw }, reply, done) => {
      if (isAboutServer(raw)) reply.code(204).header('allow', methodOrder.join(', ')).send()
      else done()
    })

    // Closing at once would reset a client that is still sending, and it would lose the response (RFC 9112 section 9.6).
    addCheck(app, 'onSend', (request) => {
      const { raw } = request
      if (raw.complete || !hasBody(raw)) return
      let remaining = maxDiscardFactor * config.BODY_LIMIT
      raw.on('data', (chunk: Buffer) => {
        remaining -= chunk.length
        if (remaining < 0) raw.destroy()
      })
      app.paceReads(request)
    })
  },
  { name: 'framing', fastify: '5.x', dependencies: ['draining', 'problems', 'scheduling'] }
)
