import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { type BuildOptions, build } from '../build.ts'
import { listening, message, Wire } from '../http/wire.ts'
import { until } from './served.ts'

/** More than the system takes for a reader that reads nothing. */
export const large = 24 * 1024 * 1024

export const [one, another] = ['127.0.0.1', '127.0.0.2'] as const

/** The shops that are built from now on check their clients only when the returned function is called. A check stands for a second. */
export function checksByHand(t: Test): (times?: number) => void {
  const checks: (() => void)[] = []
  const start = (check: () => void) => {
    checks.push(check)
    return { unref: () => undefined }
  }
  t.intercept(globalThis, 'setInterval', { value: start })
  return (times = 1) => {
    for (let i = 0; i < times; i++) for (const run of checks) run()
  }
}

/** A shop that has large answers, and checks its clients by hand, however long anything takes. */
export async function serveLarge(t: Test, settings: Readonly<Record<string, string>>, products?: BuildOptions['products']) {
  const check = checksByHand(t)
  const { app, key } = await build(t, { settings, ...(products ? { products } : {}) })
  app.get('/large', async (_request, reply) => reply.send(Buffer.alloc(large, 'x')))
  await listening(app)
  /** Connects a client that asks for a large response and does not read it yet. */
  async function openPaused(from: string, headers: Readonly<Record<string, string>> = {}, start = 'GET /large', body?: string) {
    const socket = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
    const wire = await Wire.open(t, app, from)
    wire.pause().send(message(start, headers, body))
    const sending = await socket
    await until(() => sending.writableLength > 0, 'the response waits to be sent')
    return { wire, socket: sending }
  }
  return { app, key, check, openPaused }
}
