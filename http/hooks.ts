import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

type Done = (error?: Error) => void
/**
 * A step that needs no promise. It refuses the request by throwing, and sends no response itself. It does not change the payload,
 * which only `preParsing` and `onSend` have.
 */
type Check = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => void
/**
 * A step that may have to wait. It calls `done` when the next step may run. It does not call it if it has sent the response itself,
 * or if nobody waits for a response.
 */
type WaitingStep = (request: FastifyRequest, reply: FastifyReply, done: Done) => void
type Step = Check | { readonly wait: WaitingStep }
type Stage = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler' | 'onSend'

/** The steps of an app's stages, in the order in which its plugins were registered. */
const stages = new WeakMap<FastifyInstance, Record<Stage, Step[]>>()

/**
 * All steps of a stage are one hook of Fastify. Every request passes through some 35 steps, and as many hooks would take a third of
 * the time in which a bare server answers. A hook that an app adds with `addHook` after its first
 * step runs after all steps of the stage.
 */
function stepsOf(app: FastifyInstance, stage: Stage): Step[] {
  const known = stages.get(app)
  if (known) return known[stage]
  const made: Record<Stage, Step[]> = { onRequest: [], preParsing: [], preValidation: [], preHandler: [], onSend: [] }
  const runAll = (steps: readonly Step[]) => (request: FastifyRequest, reply: FastifyReply, done: Done) =>
    runFrom(0, steps, request, reply, undefined, done)
  const runAllWithPayload = (steps: readonly Step[]) => (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) =>
    runFrom(0, steps, request, reply, payload, done)
  app.addHook('onRequest', runAll(made.onRequest))
  app.addHook('preParsing', runAllWithPayload(made.preParsing))
  app.addHook('preValidation', runAll(made.preValidation))
  app.addHook('preHandler', runAll(made.preHandler))
  app.addHook('onSend', runAllWithPayload(made.onSend))
  stages.set(app, made)
  return made[stage]
}

function runFrom(first: number, steps: readonly Step[], request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  try {
    for (let i = first; i < steps.length; i++) {
      const step = steps[i] as Step
      if (typeof step !== 'function') {
        step.wait(request, reply, (error) => (error ? done(error) : runFrom(i + 1, steps, request, reply, payload, done)))
        return
      }
      step(request, reply, payload)
    }
  } catch (error) {
    done(error as Error)
    return
  }
  done()
}

/** Adds a step that needs no promise. */
export function addCheck(app: FastifyInstance, stage: Stage, check: Check): void {
  stepsOf(app, stage).push(check)
}

/** Adds a step that may have to wait. */
export function addWait(app: FastifyInstance, stage: 'onRequest' | 'preValidation', wait: WaitingStep): void {
  stepsOf(app, stage).push({ wait })
}

/** A hook of a few routes that needs no promise. */
export function checking(check: Check) {
  const steps = [check]
  return (request: FastifyRequest, reply: FastifyReply, done: Done): void => runFrom(0, steps, request, reply, undefined, done)
}
