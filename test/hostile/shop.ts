import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { type Answered, ask, type Sent } from '../ask.ts'
import { type Ran, run } from '../cli/run.ts'
import { runServer } from '../run-server.ts'
import { until } from '../until.ts'
import { memoryOf, socketsOf, starvationOf } from './measures.ts'

/**
 * A running shop, and a customer at another address who looks at a product all the time. The shop has its default limits, except for
 * those that a busy machine reaches without any attack: time limits, and the delay of the event loop at which it answers 503.
 */
export interface HostileShop {
  /** Sockets that the serving process has open. */
  sockets(): number
  /** Sends a request from an attacker's address and reads the whole answer. */
  send(options: Sent, from?: string, agent?: Agent): Promise<Answered>
  /** A connection from an attacker's address, of which nothing is read until somebody reads. Its errors are the attacker's own. */
  open(from?: string): Promise<Socket>
  /** Closes all of the attacker's connections. */
  leave(): void
  /** Runs the shop's own command on its database. */
  command(args: readonly string[], input?: string): Promise<Ran>
  /** Runs an attack, and holds the shop against the rule: the customer is answered, the process lives, memory is bounded. */
  survives(t: Test, attack: () => Promise<void>): Promise<void>
  /** Waits until nothing of an attack is left: no request in flight, no connection. Nothing was an error to the shop. */
  recovers(t: Test): Promise<void>
}

/** The attacker's address, if a test names no other. */
const attacker = '127.0.0.1'
/** Sockets of a shop without clients, which differ a little: it listens, and speaks to its other processes. */
const spareSockets = 4
/** Customers take turns, each within its rate. */
const looksOfOne = 500
const customer = (looks: number) => `127.0.0.${2 + Math.floor(looks / looksOfOne)}`

/** Milliseconds between two looks of the customer. */
const interval = 20

/**
 * The customer's longest wait that is no sign of a blocked thread, in milliseconds in which neither the shop nor this test waits for
 * a processor: the defects of before took from ten seconds to minutes. How fast it is on a quiet machine is measured by
 * bench/hostile.ts.
 */
const longestWait = 2_500

/** The most resident memory of the serving process in most tests, in MiB. */
const usualMemory = 500

/**
 * Time limits so short that a client who is slower than they allow is cut off within seconds. Those for sending a request are longer
 * than the others, because they are the customer's, too: on a busy machine the shop may read a request seconds after it was sent.
 */
export const short = { HEADERS_TIMEOUT: '10', REQUEST_TIMEOUT: '12', SEND_TIMEOUT: '2', KEEP_ALIVE_TIMEOUT: '2' } as const
const defaultKeepAlive = '72'

/** The shop drops lines of its log while this test, which is also the attacker, is too busy to read them. That is no fault of the shop. */
const unread = /dropped, because nobody read standard output/

/** Lines of the log that a failed test shows. */
const mostShown = 3

interface Options {
  /** How many files it may have open. */
  readonly descriptors?: number
  /** The most resident memory of the serving process, in MiB. */
  readonly mostMemory?: number
  /** Fills the database, in a shop that runs before and has none of the test's limits. */
  prepare?(shop: Pick<HostileShop, 'send' | 'command'>): Promise<void>
}

export async function startHostile(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
  { descriptors, mostMemory = usualMemory, prepare }: Options = {}
): Promise<HostileShop> {
  const database = { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}` }
  const command: HostileShop['command'] = (args, input) => run(args, database, input)
  const sendTo =
    (port: number): HostileShop['send'] =>
    (sent, from = attacker, agent = undefined) =>
      ask(port, from, agent, sent)
  if (prepare) {
    const { base, end } = await runServer(t, database)
    await prepare({ send: sendTo(portOf(base)), command })
    await end('SIGTERM')
  }
  const { base, process: server } = await runServer(t, { ...database, RATE_LIMIT: '600', ...settings }, undefined, descriptors)
  const port = portOf(base)
  /** Lines of the log above `info`. */
  const warnings: string[] = []
  if (server.stdout) {
    createInterface(server.stdout).on('line', (line) => {
      const isUsual = line.startsWith('{"level":30,') || line.startsWith('{"level":20,')
      if (!isUsual && !unread.test(line)) warnings.push(line)
    })
  }
  const socketsAtRest = socketsOf(server.pid)
  const sockets = new Set<Socket>()
  function leave(): void {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(leave)

  /** Counts the customers of all attacks, so that none comes twice. */
  let looked = 0
  /** Milliseconds, of a clock that stands still while the shop or this test waits for a processor. */
  const now = () => performance.now() - starvationOf(server.pid) - starvationOf('self')
  /** The shop may close a connection that was idle for so many milliseconds, also while the next request is on its way. */
  const keepAlive = Number(settings['KEEP_ALIVE_TIMEOUT'] ?? defaultKeepAlive) * 1000

  async function watch(isOver: () => boolean): Promise<{ statuses: Set<unknown>; longest: number; looks: number }> {
    let agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const statuses = new Set<unknown>()
    let longest = 0
    let looks = 0
    let last = performance.now()
    while (!isOver()) {
      if (looked % looksOfOne === 0) {
        agent.destroy()
        agent = new Agent({ keepAlive: true, maxSockets: 1 })
      }
      const [before, began] = [last, now()]
      last = performance.now()
      const answer = await ask(port, customer(looked++), agent, { path: '/product/ABC-1' }).catch((error: Error) => error)
      looks++
      longest = Math.max(longest, now() - began)
      // A customer asks again then, as browsers do (RFC 9110 section 9.2.2).
      if (!('status' in answer) && isReset(answer) && performance.now() - before >= keepAlive) continue
      statuses.add('status' in answer ? answer.status : answer.message)
      await sleep(interval)
    }
    agent.destroy()
    return { statuses, longest, looks }
  }

  return {
    sockets: () => socketsOf(server.pid),
    send: sendTo(port),
    leave,
    command,
    async open(from = attacker) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from }).pause()
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
      await new Promise((resolve) => {
        socket.once('connect', resolve).once('close', resolve)
      })
      return socket
    },
    async survives(t, attack) {
      let isOver = false
      const watching = watch(() => isOver)
      try {
        await attack()
      } finally {
        isOver = true
      }
      const { statuses, longest, looks } = await watching
      t.comment(`${looks} looks, the longest ${Math.round(longest)} ms; ${Math.round(memoryOf(server.pid))} MiB at most`)
      t.same([...statuses], [200], 'the customer is always answered')
      t.ok(longest < longestWait, 'the customer never waits for the attacker')
      t.ok(memoryOf(server.pid) < mostMemory, 'memory is bounded')
      t.equal(server.exitCode, null, 'the process lives')
    },
    async recovers(t) {
      const operator = '127.0.255.1'
      const metrics = async () => (await ask(port, operator, undefined, { path: '/metrics' })).body
      // The request for the metrics is in flight itself.
      await until(async () => (await metrics()).includes('http_requests_in_flight 1\n'), 'no request is in flight')
      await until(() => socketsOf(server.pid) <= socketsAtRest + spareSockets, 'no connection is left')
      t.notMatch(await metrics(), /status="500"/, 'nothing went wrong')
      t.same(warnings.slice(0, mostShown), [], 'and the operator has nothing to look at')
    }
  }
}

const portOf = (base: string) => Number(new URL(base).port)

/** Whether a connection was reset before any byte of an answer had come. */
function isReset({ code, message }: NodeJS.ErrnoException): boolean {
  return (code === 'ECONNRESET' || code === 'EPIPE') && message !== 'aborted'
}

export const form = { 'content-type': 'application/x-www-form-urlencoded' } as const
