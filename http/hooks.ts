import type { FastifyReply, FastifyRequest } from 'fastify'

type Check = (request: FastifyRequest, reply: FastifyReply) => void
type PayloadCheck<P> = (request: FastifyRequest, reply: FastifyReply, payload: P) => void
type Done = (error?: Error) => void

/**
 * An onRequest, preValidation or preHandler hook that needs no promise. An error that `check` throws refuses the request.
 * Every request passes through many hooks, and an async one costs it several microtasks.
 */
export function checking(check: Check) {
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    try {
      check(request, reply)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}

/** The same for a preParsing or onSend hook, which leaves the payload as it is. */
export function checkingPayload<P>(check: PayloadCheck<P>) {
  return (request: FastifyRequest, reply: FastifyReply, payload: P, done: Done): void => {
    try {
      check(request, reply, payload)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  }
}
