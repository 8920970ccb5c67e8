import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyReply {
    /** Adds a preference that was followed to Preference-Applied (RFC 7240 section 3). */
    applyPreference(preference: string): FastifyReply
  }
}

/** Tells clients which of their preferences (RFC 7240) were followed. */
export default fp(
  async function prefer(app: FastifyInstance) {
    app.decorateReply('applyPreference', function (this: FastifyReply, preference: string) {
      const before = this.getHeader('preference-applied')
      return this.header('preference-applied', before === undefined ? preference : `${before}, ${preference}`)
    })
  },
  { name: 'prefer', fastify: '5.x' }
)
