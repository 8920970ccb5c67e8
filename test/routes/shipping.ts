import { orderXml, type Shop, xml } from '../build.ts'

export type Headers = Readonly<Record<string, string>>

export const products = { 'ABC-1': {}, 'ABC-2': {} }

export async function placed(shop: Shop, headers: Headers = {}): Promise<string> {
  const payload = orderXml({ 'ABC-1': 4, 'ABC-2': 2 })
  const { headers: got } = await shop.app.inject({ method: 'POST', url: '/order', headers: { ...xml, ...headers }, payload })
  return String(got['location'])
}

export const ship = ({ app }: Shop, order: string, payload: string, headers: Headers) =>
  app.inject({ method: 'POST', url: `${order}/shipments`, headers: { ...xml, ...headers }, payload })

export const line = (number: number, quantity: string | number) => `<item line="${number}"><quantity>${quantity}</quantity></item>`
