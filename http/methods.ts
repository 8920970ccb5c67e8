/** The methods that the service has, in their order in Allow. */
export const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const

/** Whether a method asks for a representation and changes nothing. */
export function isRead(method: string | undefined): method is 'GET' | 'HEAD' {
  return method === 'GET' || method === 'HEAD'
}
