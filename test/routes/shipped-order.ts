import { build, type Shop, xml } from '../build.ts'
import { place } from './feed.ts'

export type Headers = Readonly<Record<string, string>>

export const html = { accept: 'text/html' }

export const get = ({ app }: Shop, url: string, remoteAddress: string, headers: Headers = {}) => app.inject({ url, remoteAddress, headers })

/** A shop with an order and a webhook. */
export async function setUp(t: Parameters<typeof build>[0], settings: Headers = {}) {
  const shop = await build(t, { settings: { BODY_CACHE: '0', WEBHOOK_ALLOW: '127.0.0.1', ...settings } })
  const order = await place(shop)
  const key = await shop.key('Acme', 'order', 'fulfilment')
  const payload = '<webhook><url>http://127.0.0.1:9/</url></webhook>'
  const made = await shop.app.inject({ method: 'POST', url: '/webhooks', headers: { ...xml, ...key }, payload })
  const shipped = await shop.app.inject({ method: 'POST', url: `${order}/shipments`, headers: { ...xml, ...key }, payload: '<shipment/>' })
  t.same([made.statusCode, shipped.statusCode], [201, 201])
  return { shop, order, key, webhook: String(made.headers['location']) }
}
