import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../domain/errors.ts'
import { parseHttpDate } from '../domain/http-date.ts'
import type { Precondition } from '../domain/preconditions.ts'
import { type EntityTag, parseEntityTags } from './entity-tags.ts'
import { Problem } from './problem.ts'

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

/** The conditions of a request (RFC 9110 section 13.1). */
export interface Conditions {
  readonly ifMatch: readonly EntityTag[] | '*' | undefined
  readonly ifNoneMatch: readonly EntityTag[] | '*' | undefined
  readonly ifModifiedSince: number | undefined
  readonly ifUnmodifiedSince: number | undefined
}

/** @throws Problem `malformed-request` */
function readTags(name: 'If-Match' | 'If-None-Match', value: string | undefined, ifMalformed?: []): Conditions['ifMatch'] {
  if (value === undefined) return undefined
  const tags = parseEntityTags(value) ?? ifMalformed
  if (!tags) throw new Problem('malformed-request', `${name} must be * or a list of entity tags in double quotes.`)
  return tags
}

function readDate(value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseHttpDate(value)
}

/**
 * @param ifMatch replaces the header field
 * @param isRead whether the request is a GET or HEAD. After a malformed If-None-Match, a read gets the whole representation and a
 *   write is refused.
 * @throws Problem `malformed-request`
 */
export function readConditions(headers: IncomingHttpHeaders, ifMatch: string | undefined, isRead: boolean): Conditions {
  return {
    ifMatch: readTags('If-Match', ifMatch),
    ifNoneMatch: readTags('If-None-Match', headers['if-none-match'], isRead ? [] : undefined),
    ifModifiedSince: readDate(headers['if-modified-since']),
    ifUnmodifiedSince: readDate(headers['if-unmodified-since'])
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

/** Steps 1 and 2 of RFC 9110 section 13.2.2. @throws DomainError `precondition-failed` */
function checkUnchanged({ ifMatch, ifUnmodifiedSince }: Conditions, current: Selected | undefined): void {
  if (ifMatch !== undefined) {
    if (!current) throw failed('There is nothing at this URI, so If-Match is false.')
    if (!matchesStrongly(ifMatch, current.tags))
      throw failed('The resource is not the version in If-Match. Read it again, and send the new ETag.')
  } else if (
    ifUnmodifiedSince !== undefined &&
    current?.modifiedAt !== undefined &&
    seconds(current.modifiedAt) > seconds(ifUnmodifiedSince)
  ) {
    throw failed('The resource was modified after the time in If-Unmodified-Since. Read it again.')
  }
}

/** Whether a read gets 304. @throws DomainError `precondition-failed` */
export function isNotModified(given: Conditions, current: Selected): boolean {
  checkUnchanged(given, current)
  // Ignore If-Modified-Since beside any If-None-Match, also beside a malformed one (section 13.1.3).
  if (given.ifNoneMatch !== undefined) return matchesWeakly(given.ifNoneMatch, current.tags)
  if (given.ifModifiedSince === undefined || current.modifiedAt === undefined) return false
  return seconds(current.modifiedAt) <= seconds(given.ifModifiedSince)
}

/**
 * Evaluates a write's conditions. Returns the one that the store must check again.
 * @param current undefined when there is nothing at the URI
 * @param replaces whether the write needs If-Match, because it replaces what the caller read
 * @throws DomainError `precondition-failed`, Problem `precondition-required`
 */
export function preconditionOf(given: Conditions, current: Current | undefined, replaces: boolean): Precondition {
  checkUnchanged(given, current)
  if (given.ifNoneMatch !== undefined && current && matchesWeakly(given.ifNoneMatch, current.tags)) {
    throw failed('There is something at this URI already, so If-None-Match is false.')
  }
  if (replaces && current && given.ifMatch === undefined) {
    throw new Problem('precondition-required', 'This replaces an existing resource: send If-Match with the ETag that you read.')
  }
  if (!current) return { exists: false }
  // `If-Match: *` holds for every version, so the store only checks that there is one.
  const ofThisVersion = (given.ifMatch ?? '*') !== '*' || given.ifNoneMatch !== undefined || given.ifUnmodifiedSince !== undefined
  if (ofThisVersion) return { version: current.version }
  return given.ifMatch === '*' ? { exists: true } : {}
}
