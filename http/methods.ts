/** The methods that the service has, in their order in Allow. */
export const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const

/** Methods that change nothing (RFC 9110 section 9.2.1), so that a client can send the request again. */
export const safeMethods: readonly (string | undefined)[] = ['GET', 'HEAD', 'OPTIONS']

/** Whether a method asks for a representation and changes nothing. */
export function isRead(method: string | undefined): method is 'GET' | 'HEAD' {
  return method === 'GET' || method === 'HEAD'
}

/** The sentence by which a refusal says that nothing was stored. Nobody expects a read to store anything. */
export function nothingStored(method: string): string {
  return isRead(method) ? '' : 'Nothing was stored. '
}
