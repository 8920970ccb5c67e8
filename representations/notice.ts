import { signInWords } from './sign-in.ts'

/** A notice above a page's content, for example why a form was refused. */
export interface Notice {
  readonly kind: 'problem' | 'done'
  readonly title: string
  readonly detail?: string
  /** Whether the notice asks the user to sign in. */
  readonly signIn?: boolean
}

/** The notice for a refused form, on a page that shows the current state of the resource. */
export function refusalNotice(
  { title, detail, status }: { readonly title: string; readonly detail: string; readonly status: number },
  what: string
): Notice {
  if (status === 401) return { kind: 'problem', ...signInWords(detail), signIn: true }
  if (status !== 412) return { kind: 'problem', title, detail: `${detail} This page shows ${what} as it is now.` }
  return {
    kind: 'problem',
    title: `Somebody else changed ${what} in the meantime`,
    detail: `What you sent was not stored, so that no change is lost. This page shows ${what} as it is now. Check it, and send your change again if you still want it.`
  }
}
