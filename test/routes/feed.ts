import type { Test } from 'tap'
import { build, orderXml, type Shop, xml } from '../build.ts'
import { replace, stopClock } from '../stopped-clock.ts'

export const json = { accept: 'application/json' }

interface Page {
  readonly event: readonly {
    readonly id: string
    readonly type: string
    readonly resource: string
    readonly order?: { readonly id: string }
  }[]
  readonly link: readonly { readonly rel: string; readonly href: string }[]
}

export async function place({ app }: Shop, headers: Readonly<Record<string, string>> = {}, payload = orderXml()): Promise<string> {
  const response = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload })
  if (response.statusCode !== 201) throw new Error(response.body)
  return String(response.headers.location)
}

/** A page of events in JSON. */
export async function read({ app }: Shop, url: string, headers: Readonly<Record<string, string>>) {
  const response = await app.inject({ url, headers: { ...json, ...headers } })
  const page = response.statusCode === 200 ? (response.json() as Page) : { event: [], link: [] }
  const next = page.link.find(({ rel }) => rel === 'next')?.href ?? ''
  return { ...response, statusCode: response.statusCode, headers: response.headers, page, next }
}

export async function emptyPage(t: Test) {
  const shop = await build(t)
  const erp = await shop.key('erp', 'fulfilment')
  const acme = await shop.key('acme', 'order')
  const { next } = await read(shop, '/events', erp)
  return { shop, erp, acme, next }
}

/** No wait ends because its time is over: on a busy machine it takes long until a thousand requests wait. */
export function stopWaitingTime(t: Test): void {
  stopClock(t)
  const { setTimeout: start } = globalThis
  const startLong = (callback: () => void, milliseconds: number) => start(callback, milliseconds === 60_000 ? 2 ** 31 - 1 : milliseconds)
  replace(t, globalThis, 'setTimeout', startLong as typeof setTimeout)
}
