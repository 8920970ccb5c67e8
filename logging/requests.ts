import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { parserRefusal } from '../http/client-errors.ts'

/** The reason of a refusal, for the log line of the request. */
export interface Refusal {
  readonly code: string
  readonly detail: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request is refused. */
    refusal: Refusal | undefined
    /**
     * Whether the response has ended: it was handed to the system, or sending it has failed. If not, the client has gone before it had the
     * whole response.
     */
    isAnswered: boolean
  }
}

/** The message of the log line of a request that was answered. */
export const requestCompleted = 'request completed'

/** Writes one log line per request, when it ends. Fastify's default also writes one when it starts. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    // Fastify logs nothing when a client disconnects before it has the whole response, or when the parser refuses the body.
    reply.raw.on('close', () => {
      if (request.isAnswered) return
      const refusal = parserRefusal(request.raw)
      if (!refusal) request.log.info(logFields(request, reply), 'request cut off')
      else {
        const { status, code, detail } = refusal
        request.log.info({ ...logFields(request, reply), res: { statusCode: status }, code, detail }, requestCompleted)
      }
    })
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    if (error) request.log.error({ ...logFields(request, reply), err: error }, 'sending the response failed')
    else request.log.info(logFields(request, reply), requestCompleted)
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply): void {
    // A premature close is logged above, as "request cut off".
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(error, request, reply)
  }
}

function logFields(request: FastifyRequest, reply: FastifyReply): object {
  const { caller, refusal } = request
  const known = caller.kind === 'key' && { caller: { customer: caller.customer, key: caller.keyId } }
  // A reply that was never sent has a status, too: 200.
  const sent = reply.raw.headersSent && { res: reply }
  return { req: request, ...sent, responseTime: reply.elapsedTime, ...known, ...refusal }
}
