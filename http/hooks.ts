import type { FastifyReply, FastifyRequest } from 'fastify'

type Check<P> = (request: FastifyRequest, reply: FastifyReply, payload: P) => void
type Done = (error?: Error) => void

function run<P>(check: Check<P>, request: FastifyRequest, reply: FastifyReply, payload: P, done: Done): void {
  try {
    check(request, reply, payload)
  } catch (error) {
    done(error as Error)
    return
  }
  done()
}

/**
 * An onRequest, preValidation or preHandler hook that needs no promise. An error that `check` throws refuses the request.
 * Every request passes through many hooks, and an async one costs it several microtasks.
 */
export function checking(check: Check<undefined>) {
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => run(check, request, reply, undefined, done)
}

/** The same for a preParsing or onSend hook, which leaves the payload as it is. */
export function checkingPayload<P>(check: Check<P>) {
  return (request: FastifyRequest, reply: FastifyReply, payload: P, done: Done): void => run(check, request, reply, payload, done)
}
