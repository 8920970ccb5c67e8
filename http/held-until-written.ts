import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addCheck } from './hooks.ts'

interface Held<T> {
  readonly value: T
  readonly stopListening: () => void
}

/** The values that requests hold until the body of their answer is written (onSend), or until their client leaves. */
export class HeldUntilWritten<T> {
  readonly #held = new WeakMap<FastifyRequest, Held<T>>()
  readonly #release: (value: T) => void

  constructor(app: FastifyInstance, release: (value: T) => void) {
    this.#release = release
    addCheck(app, 'onSend', (request) => this.release(request))
  }

  get(request: FastifyRequest): T | undefined {
    return this.#held.get(request)?.value
  }

  /** Lets a request hold a value, and no longer the one before. If the client has gone already, the value is released at once. */
  hold(request: FastifyRequest, value: T): void {
    this.release(request)
    const { signal } = request.sender()
    const release = () => this.release(request)
    this.#held.set(request, { value, stopListening: () => signal.removeEventListener('abort', release) })
    signal.addEventListener('abort', release)
    if (signal.aborted) release()
  }

  release(request: FastifyRequest): void {
    const held = this.#held.get(request)
    if (!held) return
    this.#held.delete(request)
    held.stopListening()
    this.#release(held.value)
  }
}
