import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../domain/errors.ts'
import type { Precondition } from '../domain/store.ts'
import { type EntityTag, parseEntityTags, parseHttpDate } from '../http/entity-tags.ts'
import { checking } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The POST route checks the request's conditions itself, against a resource that its write changes. */
    checksConditions?: true
  }
  interface FastifyRequest {
    /**
     * Evaluates a GET's or HEAD's conditions against the representation that would be sent.
     * @throws DomainError `precondition-failed` for If-Match and If-Unmodified-Since
     */
    isNotModified(current: Selected): boolean
    /**
     * Evaluates a write's conditions against the current resource. Returns the condition that the store must check again.
     * @param current undefined when there is nothing at the URI
     * @param replaces whether the write needs If-Match, since it replaces what the caller read
     * @throws DomainError `precondition-failed`, Problem `precondition-required`
     */
    precondition(current: Current | undefined, replaces?: 'replaces'): Precondition
    /**
     * Whether a write succeeds without its conditions because the resource already is as the write wants it (RFC 9110
     * section 13.1.1): a client that lost the answer can repeat its request.
     * @throws Problem `malformed-request` when the conditions cannot be read
     */
    isAlreadySatisfied(isAsWanted: boolean): boolean
  }
}

/** The representations that conditions are compared with. */
export interface Selected {
  /** The entity tags of the current representations, with their quotes, and `W/` before a weak one. */
  readonly tags: readonly string[]
  readonly modifiedAt?: number
}

export interface Current extends Selected {
  /** The version that the store holds. */
  readonly version: number
}

interface Conditions {
  readonly ifMatch: readonly EntityTag[] | '*' | undefined
  readonly ifNoneMatch: readonly EntityTag[] | '*' | undefined
  readonly ifModifiedSince: number | undefined
  readonly ifUnmodifiedSince: number | undefined
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = name === 'if-match' ? request.operation.ifMatch : request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function conditions(request: FastifyRequest, isRead: boolean): Conditions {
  const read = (name: 'if-match' | 'if-none-match') => {
    const value = header(request, name)
    if (value === undefined) return undefined
    const tags = parseEntityTags(value)
    // A malformed If-None-Match makes a read send the whole representation. A write with one is refused.
    if (tags === undefined && !(isRead && name === 'if-none-match')) {
      throw new Problem(
        'malformed-request',
        `${name === 'if-match' ? 'If-Match' : 'If-None-Match'} must be * or a list of entity tags in double quotes.`
      )
    }
    return tags
  }
  const date = (name: string) => {
    const value = header(request, name)
    return value === undefined ? undefined : parseHttpDate(value)
  }
  return {
    ifMatch: read('if-match'),
    ifNoneMatch: read('if-none-match'),
    ifModifiedSince: date('if-modified-since'),
    ifUnmodifiedSince: date('if-unmodified-since')
  }
}

/** Strong comparison (section 8.8.3.2): a weak tag never matches. */
function matchesStrongly(wanted: readonly EntityTag[] | '*', tags: readonly string[]): boolean {
  return wanted === '*' || wanted.some(({ weak, opaque }) => !weak && tags.includes(opaque))
}

function matchesWeakly(wanted: readonly EntityTag[] | '*', tags: readonly string[]): boolean {
  return wanted === '*' || wanted.some(({ opaque }) => tags.includes(opaque) || tags.includes(`W/${opaque}`))
}

/** HTTP dates have no fractions of a second. */
function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

function failed(detail: string): DomainError {
  return new DomainError('precondition-failed', detail)
}

/** Steps 1 and 2 of RFC 9110 section 13.2.2. */
function checkUnchanged({ ifMatch, ifUnmodifiedSince }: Conditions, current: Selected | undefined): void {
  if (ifMatch !== undefined) {
    if (!current) throw failed('If-Match does not hold: there is nothing at this URI.')
    if (!matchesStrongly(ifMatch, current.tags)) throw failed('If-Match does not hold: the resource is another version by now.')
  } else if (
    ifUnmodifiedSince !== undefined &&
    current?.modifiedAt !== undefined &&
    seconds(current.modifiedAt) > seconds(ifUnmodifiedSince)
  ) {
    throw failed('If-Unmodified-Since does not hold: the resource was modified after that.')
  }
}

/** A POST's conditions apply to the resource that processes it. That resource exists and has no entity tag. */
const processor: Current = { version: 0, tags: [] }

/** Conditional requests: RFC 9110 section 13, in the order of its section 13.2.2. */
export default fp(
  async function preconditions(app: FastifyInstance) {
    // A condition that does not hold stops any method (section 13.2.1).
    app.addHook(
      'preHandler',
      checking((request) => {
        if (request.operation.method === 'POST' && !request.routeOptions.config.checksConditions) request.precondition(processor)
      })
    )

    app.decorateRequest('isNotModified', function (this: FastifyRequest, current: Selected): boolean {
      const given = conditions(this, true)
      checkUnchanged(given, current)
      // Ignore If-Modified-Since beside any If-None-Match, also beside a malformed one (section 13.1.3).
      if (header(this, 'if-none-match') !== undefined)
        return given.ifNoneMatch !== undefined && matchesWeakly(given.ifNoneMatch, current.tags)
      if (given.ifModifiedSince === undefined || current.modifiedAt === undefined) return false
      return seconds(current.modifiedAt) <= seconds(given.ifModifiedSince)
    })

    app.decorateRequest('isAlreadySatisfied', function (this: FastifyRequest, isAsWanted: boolean): boolean {
      conditions(this, false)
      return isAsWanted
    })

    app.decorateRequest('precondition', function (this: FastifyRequest, current: Current | undefined, replaces?: 'replaces'): Precondition {
      const given = conditions(this, false)
      checkUnchanged(given, current)
      if (given.ifNoneMatch !== undefined && current && matchesWeakly(given.ifNoneMatch, current.tags)) {
        throw failed('If-None-Match does not hold: there is something at this URI.')
      }
      if (replaces && current && given.ifMatch === undefined) {
        throw new Problem('precondition-required', 'This replaces what is there: send If-Match with the ETag that you read.')
      }
      if (!current) return { exists: false }
      // `If-Match: *` holds for every version, so the store only checks that there is one.
      const ofThisVersion = (given.ifMatch ?? '*') !== '*' || given.ifNoneMatch !== undefined || given.ifUnmodifiedSince !== undefined
      if (ofThisVersion) return { version: current.version }
      return given.ifMatch === '*' ? { exists: true } : {}
    })
  },
  { name: 'preconditions', fastify: '5.x', dependencies: ['form-requests', 'problems'] }
)
