import type { Test } from 'tap'
import type { HostileShop } from './shop.ts'

/** Words that most of the products have, so that a search for several of them is a hard one. */
export const commonWords = ['steel', 'stainless', 'bolt', 'zinc', 'plated', 'metric', 'socket', 'screw', 'washer'] as const

const products = 4_000
const wordsOfOne = 500

/** A product of the large catalogue that never runs out of stock. */
const plentiful = 'LARGE-0'

/** 12 MB of products, so that the catalogue fits into no buffer of a connection and no search of it is quick. */
function catalogue(): string {
  const rows = ['id,name,description,price,category,on-hand']
  for (let i = 0; i < products; i++) {
    const words = Array.from({ length: wordsOfOne }, (_, j) => commonWords[(i + j * j) % commonWords.length])
    rows.push(`LARGE-${i},Large ${i},${words.join(' ')},1.00,Large,${i === 0 ? '999999999' : '1'}`)
  }
  return rows.join('\n')
}

export async function importLarge(t: Test, shop: Pick<HostileShop, 'command'>): Promise<void> {
  const { status, stderr } = await shop.command(['import', '-', '--format', 'csv'], catalogue())
  t.equal(status, 0, stderr)
}

/** An order whose representations are megabytes. @returns its path */
export async function placeLarge(t: Test, shop: Pick<HostileShop, 'send'>, from?: string): Promise<string> {
  const item = `<item><product-id>${plentiful}</product-id><quantity>1</quantity></item>`
  const body = `<purchase-order>${item.repeat(10_000)}</purchase-order>`
  const { status, headers } = await shop.send(
    { method: 'POST', path: '/order', headers: { 'content-type': 'application/xml' }, body },
    from
  )
  t.equal(status, 201)
  return String(headers['location'])
}
