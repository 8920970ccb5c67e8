import type { ServerResponse } from 'node:http'

/** A pending request, for the log. The `reqId` is empty if the request has its own line in the log already. */
export interface Unanswered {
  readonly reqId: string
  readonly method: string
  readonly route: string | undefined
  readonly milliseconds: number
  readonly state: 'its body was still arriving' | 'it was being answered' | 'its answer was still being sent'
}

export function progressOf({ headersSent, req }: ServerResponse): Unanswered['state'] {
  if (!req.complete) return 'its body was still arriving'
  return headersSent ? 'its answer was still being sent' : 'it was being answered'
}

/** A stored response that the client has not read yet. */
export const unreadStoredResponse: Unanswered = {
  reqId: '',
  method: 'GET',
  route: undefined,
  milliseconds: 0,
  state: 'its answer was still being sent'
}
