import { type Caller, hasScope, mayListOrders } from '../domain/caller.ts'
import { page, type Representations } from './representation.ts'
import { renderPage } from './views.ts'

export interface SignIn {
  readonly caller: Caller
  /** The page to continue at: a path of this service. */
  readonly next: string | undefined
  /** Whether the person signed in before, with a key that is no longer valid. */
  readonly isSignedOut: boolean
  /** How every key begins. */
  readonly keyPrefix: string
  /** How long a person stays signed in, in seconds. */
  readonly sessionSeconds: number
  /** Why the entered key was refused. */
  readonly wrong?: string
}

/** There is only a page: machines send their key with each request and do not sign in. */
export const sessionRepresentations: Representations<SignIn> = {
  variants: [
    page(({ caller, sessionSeconds, ...shown }, context) => {
      const may = { listOrders: mayListOrders(caller), changeProducts: hasScope(caller, 'catalogue') }
      const signedIn = caller.kind === 'key' ? { customer: caller.customer, scopes: caller.scopes, may } : {}
      return renderPage(
        'session',
        caller.kind === 'key' ? 'Your account' : 'Sign in',
        { ...signedIn, ...shown, hours: sessionSeconds / 3600 },
        context
      )
    })
  ]
}
