import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { runServer } from '../run-server.ts'

/** A running shop with its default limits, and a customer at another address who looks at a product all the time. */
export interface HostileShop {
  readonly port: number
  /** Resident memory of the serving process, in MiB: the most that was seen. */
  peakMemory(): number
  /** Lines of the log above `info`. */
  readonly warnings: readonly string[]
  /** Sends a request from the attacker's address and reads the whole answer. */
  send(options: Sent): Promise<Answered>
  /** A connection from the attacker's address. Its errors are the attacker's own. */
  open(): Promise<Socket>
  /** Runs an attack, and holds the shop against the rule: the customer is answered, the process lives, memory is bounded. */
  survives(t: Test, attack: () => Promise<void>): Promise<void>
}

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
}

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly size: number
  readonly body: string
}

const attacker = '127.0.0.1'
/** Customers take turns, each within its rate. */
const looksOfOne = 500
const customer = (looks: number) => `127.0.0.${2 + Math.floor(looks / looksOfOne)}`

/** Milliseconds between two looks of the customer. */
const interval = 20

/**
 * The customer's longest wait that is no sign of a blocked thread, in milliseconds: the defects of before took from ten
 * seconds to minutes. How fast it is on a quiet machine is measured by bench/hostile.ts.
 */
const patience = 5_000

const mostMemory = 600

function ask(
  port: number,
  localAddress: string,
  agent: Agent | undefined,
  { method = 'GET', path, headers = {}, body }: Sent
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, localAddress, agent, method, path, headers: headers as Record<string, string> })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const whole = Buffer.concat(chunks)
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, size: whole.length, body: whole.toString('utf8') })
      })
    })
    sent.end(body)
  })
}

function memoryOf(pid: number | undefined): number {
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

export async function startHostile(t: Test, settings: Readonly<Record<string, string>> = {}): Promise<HostileShop> {
  const limits = { RATE_LIMIT: '600', OVERLOAD_DELAY: '1000' }
  const { base, process: server } = await runServer(t, { DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`, ...limits, ...settings })
  const port = Number(new URL(base).port)
  const warnings: string[] = []
  if (server.stdout) {
    createInterface(server.stdout).on('line', (line) => {
      if (!line.startsWith('{"level":30,') && !line.startsWith('{"level":20,')) warnings.push(line)
    })
  }
  const sockets = new Set<Socket>()
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })

  async function watch(isOver: () => boolean): Promise<{ statuses: Set<number>; longest: number; looks: number }> {
    let agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const statuses = new Set<number>()
    let longest = 0
    let looks = 0
    while (!isOver()) {
      if (looks > 0 && looks % looksOfOne === 0) {
        agent.destroy()
        agent = new Agent({ keepAlive: true, maxSockets: 1 })
      }
      const began = performance.now()
      const { status } = await ask(port, customer(looks++), agent, { path: '/product/ABC-1' })
      statuses.add(status)
      longest = Math.max(longest, performance.now() - began)
      await sleep(interval)
    }
    agent.destroy()
    return { statuses, longest, looks }
  }

  return {
    port,
    warnings,
    peakMemory: () => memoryOf(server.pid),
    send: (sent) => ask(port, attacker, undefined, sent),
    async open() {
      const socket = connect({ port, host: '127.0.0.1', localAddress: attacker })
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => sockets.delete(socket))
      await Promise.race([once(socket, 'connect'), once(socket, 'close')])
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
      t.ok(longest < patience, 'the customer never waits for the attacker')
      t.ok(memoryOf(server.pid) < mostMemory, 'memory is bounded')
      t.equal(server.exitCode, null, 'the process lives')
    }
  }
}
