import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyReply {
    /** Adds a preference that was followed to Preference-Applied (RFC 7240 section 3). */
    applyPreference(preference: string): FastifyReply
    /** Takes a preference out of Preference-Applied again. */
    withdrawPreference(preference: string): FastifyReply
  }
}

/** Tells clients which of their preferences (RFC 7240) were followed. */
export default fp(
  async function prefer(app: FastifyInstance) {
    app.decorateReply('applyPreference', function (this: FastifyReply, preference: string) {
      const before = this.getHeader('preference-applied')
      return this.header('preference-applied', before === undefined ? preference : `${before}, ${preference}`)
    })
    app.decorateReply('withdrawPreference', function (this: FastifyReply, preference: string) {
      const applied = String(this.getHeader('preference-applied') ?? '').split(', ')
      const left = applied.filter((one) => one !== '' && one !== preference)
      return left.length > 0 ? this.header('preference-applied', left.join(', ')) : this.removeHeader('preference-applied')
    })
  },
  { name: 'prefer', fastify: '5.x' }
)
