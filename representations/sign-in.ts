/** The words for a caller who needs a key, or another one. */

/** The detail of the problem for a caller without a key. A page replaces it, because a person signs in. */
export const keyNeededDetail = 'This needs an API key. Send it as Authorization: Bearer KEY, or sign in with it.'

/** The detail of the problem for a person whose key was valid when they signed in, and is no longer. */
export const signedOutDetail = 'You are no longer signed in. Sign in again, or sign out to go on as a guest.'

/** The words of a refusal for a person, who signs in. They do not speak of header fields. */
export function signInWords(detail: string): { readonly title: string; readonly detail: string } {
  const isNeeded = detail === keyNeededDetail
  return { title: 'Sign in to go on', detail: isNeeded ? 'You need the key that the shop gave to your company.' : detail }
}
