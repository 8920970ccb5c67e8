import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { splitField } from '../http/accept.ts'

export type PreferredReturn = 'minimal' | 'representation'
export type PreferredHandling = 'strict' | 'lenient'

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

/** Seconds that a request may be held. */
const longestWait = 60

/** The value of the first preference of a name (RFC 7240 section 2), in lower case. Later ones of the same name are ignored. */
function parsePreference(header: string, name: string): string | undefined {
  const pattern = new RegExp(`^${name}\\s*=\\s*("?)(.*)\\1$`, 'i')
  for (const preference of splitField(header, ',')) {
    const found = pattern.exec(splitField(preference, ';')[0] ?? '')?.[2]?.toLowerCase()
    if (found !== undefined) return found
  }
  return undefined
}

/** Parses the `return` preference. If its value is unknown, it is ignored. */
export function parseReturn(header: string): PreferredReturn | undefined {
  const found = parsePreference(header, 'return')
  return found === 'minimal' || found === 'representation' ? found : undefined
}

/** Parses the `handling` preference. If its value is unknown, it is ignored. */
export function parseHandling(header: string): PreferredHandling | undefined {
  const found = parsePreference(header, 'handling')
  return found === 'strict' || found === 'lenient' ? found : undefined
}

/** Parses the `wait` preference, in seconds. */
function parseWait(header: string): number | undefined {
  const found = parsePreference(header, 'wait')
  return found !== undefined && /^\d{1,9}$/.test(found) ? Math.min(Number(found), longestWait) : undefined
}

function preferHeader({ headers: { prefer } }: FastifyRequest): string | undefined {
  return prefer === undefined ? undefined : [prefer].flat().join(',')
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
  { name: 'prefer', fastify: '5.x' }
)
