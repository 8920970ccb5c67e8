import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'

/** What stops: the service and, where it has a port of its own, its health and metrics. */
interface Serving {
  readonly config: Config
  readonly app: FastifyInstance
  readonly ops?: FastifyInstance
}

/** npm passes Ctrl-C on to a process that has it from the terminal already: only later is it somebody's impatience. In milliseconds. */
const sameKeystroke = 1_000

/** Requests that the log names when they are cut off. */
const mostNamed = 10

/**
 * How the process ends, on SIGTERM and SIGINT:
 *
 * 1. Readiness is 503 at once, and each answer is the last of its connection. The listener stays open for SHUTDOWN_DELAY:
 *    balancers notice, and who is told to connect anew can.
 * 2. The listener closes when everybody who has connected is accepted.
 * 3. Connections without a request in flight are closed: those that have had an answer at once, the others after a moment in
 *    which their request may still arrive. A request in flight is one whose header fields have arrived: its body may follow, its
 *    answer is given and sent to the end. There is SHUTDOWN_TIMEOUT for that.
 * 4. The health port closes, then the store, when all that it has taken is written.
 *
 * The exit status is 0; it is 1 when a request in flight was cut off, which the log names, or when the store could not be closed.
 * Told again by SIGTERM it goes on as it does; a second Ctrl-C ends it where it stands.
 */
class Stopper {
  #serving: Serving | undefined
  #since: number | undefined

  /** From now on signals are heeded: process 1 of a container would not end by itself. */
  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#receive(signal))
  }

  get isStopping(): boolean {
    return this.#since !== undefined
  }

  /** Says what there is to stop; told again when there is more. */
  attend(serving: Serving): void {
    this.#serving = serving
  }

  #receive(signal: NodeJS.Signals): void {
    const serving = this.#serving
    // Nobody has connected yet, and what is half done in the database is undone by itself.
    if (!serving?.app.server.listening && !this.isStopping) process.exit(0)
    if (!serving) return
    if (this.#since === undefined) {
      this.#since = performance.now()
      void this.#stop(serving, signal)
    } else if (signal === 'SIGINT' && performance.now() - this.#since > sameKeystroke) {
      this.#cut(serving, 'told again to stop')
    }
  }

  async #stop({ app, config }: Serving, signal: NodeJS.Signals): Promise<void> {
    app.log.info({ signal }, 'stopping')
    app.connections.disableKeepAlive()
    const allowed = (config.SHUTDOWN_DELAY + config.SHUTDOWN_TIMEOUT) * 1000
    setTimeout(() => this.#serving && this.#cut(this.#serving, 'SHUTDOWN_TIMEOUT is over'), allowed).unref()
    try {
      await sleep(config.SHUTDOWN_DELAY * 1000)
      await app.connections.drain()
      const ops = this.#serving?.ops
      ops?.connections.disableKeepAlive()
      await ops?.connections.drain(0)
      await ops?.close()
      await app.close()
    } catch (error) {
      app.log.error({ err: error }, 'stopped, but not as it should')
      process.exit(1)
    }
    app.log.info('stopped')
    process.exit(0)
  }

  #cut({ app }: Serving, why: string): never {
    const unanswered = app.unanswered()
    const what = unanswered.length === 0 ? 'the database was not closed' : `requests were cut off: ${unanswered.length}`
    app.log.error({ requests: unanswered.slice(0, mostNamed) }, `stopped, but ${why}: ${what}`)
    process.exit(1)
  }
}

export const stopper = new Stopper()
