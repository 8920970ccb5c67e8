import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { splitField } from '../http/accept.ts'

export type PreferredReturn = 'minimal' | 'representation'

declare module 'fastify' {
  interface FastifyRequest {
    /** The client's preference for the response to a write (RFC 7240 section 4.2). */
    preferredReturn(): PreferredReturn | undefined
  }
}

const returnPreference = /^return\s*=\s*("?)(.*)\1$/i

/** Parses the first `return` preference (RFC 7240 section 2). If its value is unknown, it is ignored, and so are later ones. */
export function parseReturn(header: string): PreferredReturn | undefined {
  for (const preference of splitField(header, ',')) {
    const found = returnPreference.exec(splitField(preference, ';')[0] ?? '')?.[2]?.toLowerCase()
    if (found !== undefined) return found === 'minimal' || found === 'representation' ? found : undefined
  }
  return undefined
}

export default fp(
  async function prefer(app: FastifyInstance) {
    app.decorateRequest('preferredReturn', function (this: FastifyRequest) {
      const { prefer } = this.headers
      return prefer === undefined ? undefined : parseReturn([prefer].flat().join(','))
    })
  },
  { name: 'prefer', fastify: '5.x' }
)
