import { hash } from 'node:crypto'
import type { Representation, Validators } from '../representations/representation.ts'

/** The validators of one representation, as sent in the headers. */
export interface SentValidators {
  readonly tag: string
  readonly modifiedAt?: number
  readonly isFinal?: boolean
}

type EntityTagger = (path: string, validators: Validators, variant: Representation<never>) => string

/**
 * Makes the function that gives an entity tag to one representation of one version of one resource. The tag depends on the path. A
 * query counts only through `version` and `page`.
 * @param seed is part of every tag: everything else that the bytes depend on
 */
export function makeEntityTagger(seed: string): EntityTagger {
  return (path, { version, page, isWeak }, { suffix }) => {
    const digest = hash('sha256', `${seed} ${path}`).slice(0, 8)
    return `${isWeak ? 'W/' : ''}"${version}${suffix === 'html' && page !== undefined ? `.${page}` : ''}-${digest}-${suffix}"`
  }
}

export function pathOf(uri: string): string {
  const query = uri.indexOf('?')
  return query === -1 ? uri : uri.slice(0, query)
}

/** Last-Modified must not be later than Date (RFC 9110 section 8.8.2.1), even if the clock was set back. Node's Date may be a second old. */
export function lastModified(at: number): string {
  const now = Date.now()
  return new Date(at > now ? now - 1_000 : at).toUTCString()
}

export function modified({ modifiedAt }: Pick<Validators, 'modifiedAt'>): { modifiedAt?: number } {
  return modifiedAt === undefined ? {} : { modifiedAt }
}
