/**
 * HTTP clients in a separate thread, so that they do not share the event loop of the service. They implement only the
 * necessary part of HTTP/1.1, over keep-alive sockets, so that they cost less than the service.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../priority.ts'
import { productId } from './catalogue.ts'
import { pick, random } from './measure.ts'

export interface Load {
  /** By default this machine. */
  readonly host?: string
  readonly port: number
  /** Complete requests. Each client sends one at a time, in random order. */
  readonly requests: readonly string[]
  /** Instead of `requests`, each request is for a random one of this many products of a generated catalogue. */
  readonly products?: number
  readonly clients: number
  readonly milliseconds: number
  readonly seed: number
  /** The expected status. Any other ends the bench with an error. Without it any status is accepted. */
  readonly status?: number
  /** The clients' address on the loopback network. */
  readonly from?: string
  /** Milliseconds between two requests of one client; without it a client sends when the last answer has arrived. */
  readonly every?: number
}

export interface Answered {
  /** Milliseconds from when each request was due. A request that had to wait for the answer before was due earlier than it was sent. */
  readonly latencies: Float64Array
  readonly perSecond: number
  /** The number of answers with a status other than 200. */
  readonly others: number
}

export interface Loader {
  run(load: Load): Promise<Answered>
  close(): Promise<void>
}

/** @param niceness added to that of the clients' thread, so that other threads on its core go first */
export function startLoader(niceness = 0): Loader {
  const worker = new Worker(new URL(import.meta.url), { workerData: niceness })
  return {
    async run(load) {
      worker.postMessage(load)
      const [answer] = (await once(worker, 'message')) as [Answered | Error]
      if (answer instanceof Error) throw answer
      return answer
    },
    async close() {
      await worker.terminate()
    }
  }
}

async function run({ host, port, requests, products, clients, milliseconds, seed, status, every, from }: Load): Promise<Answered> {
  const bytes = requests.map((request) => Buffer.from(request))
  const choose = (next: () => number) => (products === undefined ? pick(next, bytes) : Buffer.from(askForOne(next, products)))
  const latencies: number[] = []
  let others = 0
  const sockets = await Promise.all(Array.from({ length: clients }, () => open(port, from, host)))
  const start = performance.now()
  await Promise.all(sockets.map(client))
  const elapsed = performance.now() - start
  for (const socket of sockets) socket.destroy()
  return { latencies: Float64Array.from(latencies), perSecond: (1000 * latencies.length) / elapsed, others }

  async function client(socket: Socket, i: number): Promise<void> {
    const next = random(seed + i)
    const exchange = makeExchange(socket)
    let done = start
    // The clients start spread over the interval, so that they do not all send at once.
    for (let due = start + (every ?? 0) * next(); Math.max(due, done) < start + milliseconds; due = every ? due + every : done) {
      const isLate = due < done
      if (!isLate) await sleep(due - performance.now())
      const began = isLate ? due : performance.now()
      const received = await exchange(choose(next))
      if (status !== undefined && received !== status) throw new Error(`the service answered ${received}, not ${status}`)
      if (received !== 200) others++
      done = performance.now()
      latencies.push(done - began)
    }
  }
}

function askForOne(next: () => number, products: number): string {
  return `GET /product/${productId(Math.floor(products * next()), products)} HTTP/1.1\r\nHost: shop\r\n\r\n`
}

export async function open(port: number, localAddress?: string, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host, noDelay: true, ...(localAddress === undefined ? {} : { localAddress }) })
  await once(socket, 'connect')
  return socket
}

const headEnd = Buffer.from('\r\n\r\n')

/** Returns a function that sends one request, reads the whole answer and returns its status. */
export function makeExchange(socket: Socket): (request: Buffer) => Promise<number> {
  let settle: { resolve: (status: number) => void; reject: (error: Error) => void } | undefined
  let head = Buffer.alloc(0)
  let missing: number | undefined
  let status = 0
  socket.on('close', () => settle?.reject(new Error('the service closed a connection')))
  socket.on('error', (error) => settle?.reject(error))
  socket.on('data', (chunk) => {
    if (missing === undefined) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = head.indexOf(headEnd)
      if (end === -1) return
      const text = head.toString('latin1', 0, end)
      status = Number(text.slice(9, 12))
      missing = bodyLength(status, text) - (head.length - end - headEnd.length)
    } else missing -= chunk.length
    if (missing > 0) return
    head = Buffer.alloc(0)
    missing = undefined
    settle?.resolve(status)
  })
  return (request) =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) reject(new Error('the service closed a connection'))
      settle = { resolve, reject }
      socket.write(request)
    })
}

function bodyLength(status: number, head: string): number {
  if (status === 204 || status === 304) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length === undefined) throw new Error('this client cannot read an answer without Content-Length')
  return Number(length)
}

if (!isMainThread) {
  lowerThreadPriority(workerData as number)
  parentPort?.on('message', (load: Load) => {
    run(load).then(
      (answer) => parentPort?.postMessage(answer),
      (error: Error) => parentPort?.postMessage(error)
    )
  })
}
