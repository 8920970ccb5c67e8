import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type PreferredHandling, type PreferredReturn, parseHandling, parseReturn, parseWait } from '../http/preferences.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's preference for the response to a write (RFC 7240 section 4.2). */
    preferredReturn(): PreferredReturn | undefined
    /** The seconds that the client will wait for something to happen (RFC 7240 section 4.3), at most `longestWait`. */
    preferredWait(): number | undefined
    /** Whether the client wants all or nothing, or what can be had (RFC 7240 section 4.4). */
    preferredHandling(): PreferredHandling | undefined
  }
  interface FastifyReply {
    /** Adds a preference that was followed to Preference-Applied (RFC 7240 section 3). */
    applyPreference(preference: string): FastifyReply
  }
}

/** The preferences of a form's post are ignored: a person gets the whole result as a page. */
function preferHeader({ headers: { prefer }, submission }: FastifyRequest): string | undefined {
  return prefer === undefined || submission?.notation === 'form' ? undefined : [prefer].flat().join(',')
}

export default fp(
  async function prefer(app: FastifyInstance) {
    app.decorateRequest('preferredReturn', function (this: FastifyRequest) {
      const header = preferHeader(this)
      return header === undefined ? undefined : parseReturn(header)
    })
    app.decorateRequest('preferredWait', function (this: FastifyRequest) {
      const header = preferHeader(this)
      return header === undefined ? undefined : parseWait(header)
    })
    app.decorateRequest('preferredHandling', function (this: FastifyRequest) {
      const header = preferHeader(this)
      return header === undefined ? undefined : parseHandling(header)
    })
    app.decorateReply('applyPreference', function (this: FastifyReply, preference: string) {
      const before = this.getHeader('preference-applied')
      return this.header('preference-applied', before === undefined ? preference : `${before}, ${preference}`)
    })
  },
  { name: 'prefer', fastify: '5.x', dependencies: ['documents'] }
)
