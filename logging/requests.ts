import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

/** Why a request was refused: for the line that the log has of it. */
export interface Refusal {
  readonly code: string
  readonly detail: string
}

declare module 'fastify' {
  interface FastifyRequest {
    refusal: Refusal | undefined
  }
}

/** One line a request, when it has ended. Fastify would write one at its begin, too. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest, reply: FastifyReply): void {
    let isAnswered = false
    reply.raw.once('finish', () => (isAnswered = true))
    // Fastify says nothing of a client that leaves before it has the whole answer.
    reply.raw.once('close', () => {
      if (!isAnswered) request.log.info(lineOf(request, reply), 'request cut off')
    })
  }

  override requestCompleted(error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    if (error) request.log.error({ ...lineOf(request, reply), err: error }, 'request errored')
    else request.log.info(lineOf(request, reply), 'request completed')
  }

  override streamError(error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply): void {
    // Else it was cut off, which has its line.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') super.streamError(error, request, reply)
  }
}

function lineOf(request: FastifyRequest, reply: FastifyReply): object {
  return { req: request, res: reply, responseTime: reply.elapsedTime, ...request.refusal }
}
