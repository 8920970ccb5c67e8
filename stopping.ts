import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from './config.ts'

/** The servers to stop: the service and, with OPS_PORT, the server for health and metrics. */
interface Servers {
  readonly config: Config
  readonly app: FastifyInstance
  readonly ops?: FastifyInstance
}

/** npm forwards the Ctrl-C that the process also gets from the terminal. Only a SIGINT after this many milliseconds is a second Ctrl-C. */
const sameKeystroke = 1_000

/** The most requests that the log lists when they are cut off. */
const maxListed = 10

/**
 * Stops the process on SIGTERM, SIGINT and SIGHUP, which it gets when its terminal is closed:
 *
 * 1. Readiness answers 503 at once, and each answer closes its connection. The listener stays open for SHUTDOWN_DELAY, so
 *    that load balancers notice and clients can still reconnect.
 * 2. The listener closes after it has accepted all waiting connections.
 * 3. Deliveries end within a second, those that a request asked for, too.
 * 4. Connections without a request in flight are closed: at once if they have had an answer, otherwise after a moment in
 *    which their request may still arrive. A request is in flight when its header fields have arrived. The service reads its
 *    body and sends its answer completely. SHUTDOWN_TIMEOUT limits this.
 * 5. The health port closes, and then the store, when everything is written.
 *
 * The exit status is 0. It is 1 when a request in flight was cut off, which the log lists, or when the store could not be
 * closed. A second SIGTERM changes nothing. A second Ctrl-C ends the process at once.
 */
class Stopper {
  #servers: Servers | undefined
  #since: number | undefined

  /** Handles signals from now on, since process 1 of a container ignores signals without a handler. */
  constructor() {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#receive(signal))
  }

  get isStopping(): boolean {
    return this.#since !== undefined
  }

  /** Sets the servers to stop. It is called again when the ops server has started. */
  watch(servers: Servers): void {
    this.#servers = servers
  }

  #receive(signal: NodeJS.Signals): void {
    const servers = this.#servers
    // No client has connected yet, and the database rolls unfinished transactions back by itself.
    if (!servers?.app.server.listening && !this.isStopping) process.exit(0)
    if (!servers) return
    if (this.#since === undefined) {
      this.#since = performance.now()
      void this.#stop(servers, signal)
    } else if (signal === 'SIGINT' && performance.now() - this.#since > sameKeystroke) {
      this.#cut(servers, 'it was interrupted again')
    }
  }

  async #stop({ app, config }: Servers, signal: NodeJS.Signals): Promise<void> {
    app.log.info({ signal }, 'the service is stopping')
    app.connections.disableKeepAlive()
    const allowed = (config.SHUTDOWN_DELAY + config.SHUTDOWN_TIMEOUT) * 1000
    setTimeout(() => this.#servers && this.#cut(this.#servers, 'SHUTDOWN_TIMEOUT is over'), allowed).unref()
    try {
      await sleep(config.SHUTDOWN_DELAY * 1000)
      // A request that sends an event again is in flight until its receiver answers, which must not decide how long it takes to stop.
      app.webhooks.stop().catch(() => {})
      await app.connections.drain()
      const ops = this.#servers?.ops
      ops?.connections.disableKeepAlive()
      await ops?.connections.drain(0)
      await ops?.close()
      await app.close()
    } catch (error) {
      app.log.error({ err: error }, 'the service has stopped with an error')
      process.exit(1)
    }
    app.log.info('the service has stopped')
    process.exit(0)
  }

  #cut({ app }: Servers, why: string): never {
    const unanswered = app.unanswered()
    const what = unanswered.length === 0 ? 'the database was not closed' : `requests were cut off: ${unanswered.length}`
    app.log.error({ requests: unanswered.slice(0, maxListed) }, `the service was stopped early, because ${why}: ${what}`)
    process.exit(1)
  }
}

export const stopper = new Stopper()
