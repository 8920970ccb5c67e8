import type { Caller } from '../../domain/caller.ts'
import type { Representations } from '../representation.ts'
import { renderPage } from '../views.ts'

export interface SignIn {
  readonly caller: Caller | undefined
  /** Where to go on, a path of this service. */
  readonly next: string | undefined
  /** Why the key that was entered does not do. */
  readonly wrong?: string
}

/** A page for people only: a machine sends its key with each request and has nothing to sign in to. */
export const sessionRepresentations: Representations<SignIn> = {
  variants: [
    {
      mediaType: 'text/html',
      contentType: 'text/html; charset=utf-8',
      suffix: 'html',
      write: ({ caller, next, wrong }, context) => {
        const signedIn = caller?.kind === 'key' ? { customer: caller.customer, scopes: caller.scopes } : {}
        return renderPage('session', caller?.kind === 'key' ? 'Your account' : 'Sign in', { ...signedIn, next, wrong }, context)
      }
    }
  ]
}
