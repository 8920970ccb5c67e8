import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type PreferredHandling, type PreferredReturn, parseHandling, parseReturn, parseWait } from '../http/preferences.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's preference for the response to a write (RFC 7240 section 4.2). */
    preferredReturn(): PreferredReturn | undefined
    /** The seconds that the client will wait for something to happen (RFC 7240 section 4.3), at most `longestPreferredWait`. */
    preferredWait(): number | undefined
    /** Whether the client wants all or nothing, or what is available (RFC 7240 section 4.4). */
    preferredHandling(): PreferredHandling | undefined
  }
  interface FastifyReply {
    /** Adds a preference that was followed to Preference-Applied (RFC 7240 section 3). */
    applyPreference(preference: string): FastifyReply
  }
}

export default fp(
  async function prefer(app: FastifyInstance) {
    app.decorateRequest('preferredReturn', function (this: FastifyRequest) {
      return parseReturn(this.operation.prefer)
    })
    app.decorateRequest('preferredWait', function (this: FastifyRequest) {
      return parseWait(this.operation.prefer)
    })
    app.decorateRequest('preferredHandling', function (this: FastifyRequest) {
      return parseHandling(this.operation.prefer)
    })
    app.decorateReply('applyPreference', function (this: FastifyReply, preference: string) {
      const before = this.getHeader('preference-applied')
      return this.header('preference-applied', before === undefined ? preference : `${before}, ${preference}`)
    })
  },
  { name: 'prefer', fastify: '5.x', dependencies: ['form-requests'] }
)
