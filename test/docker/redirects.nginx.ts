import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { blocks, read } from '../readme/pages.ts'
import { send, startNginx } from './nginx.ts'

/** The lines of docs/operations.md for a new path of BASE_URL: the first of a shop without a path, the second of one at /old. */
const [fromRoot = '', fromOld = ''] = blocks(read('docs/operations.md')).flatMap(({ language, text }) => (language === 'nginx' ? text : []))

/** nginx with these lines, in front of a service that answers everything with 200. @returns what a path is answered with */
async function serve(t: Test, lines: string) {
  const service = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
  await once(service, 'listening')
  t.teardown(() => service.close())
  const { port } = await startNginx(t, [(service.address() as AddressInfo).port], { lines })
  return async (path: string) => {
    const { status, headers } = await send(port, path, { method: 'POST', headers: { host: 'shop.example:8080' } })
    return [status, headers.location]
  }
}

t.test('the lines for a shop that moves to a path lead every former URI there, whatever the port and the scheme are', async (t) => {
  const answer = await serve(t, fromRoot)
  t.same(await answer('/order/1?form=again'), [308, '/shop/order/1?form=again'])
  t.same(await answer('/product/a%2Fb'), [308, '/shop/product/a%2Fb'])
  t.same(await answer('/shopping'), [308, '/shop/shopping'])
  t.same(await answer('/'), [308, '/shop/'])
  for (const path of ['/shop', '/shop/', '/shop/order', '/shop?x=1']) t.same(await answer(path), [200, undefined], path)
  t.same(await answer('/health/live'), [404, undefined], 'what is for the operator stays hidden')
})

t.test('the lines for a shop that moves from one path to another lead every former URI there', async (t) => {
  const answer = await serve(t, fromOld)
  t.same(await answer('/old'), [308, '/new'])
  t.same(await answer('/old?q=bolt'), [308, '/new?q=bolt'])
  t.same(await answer('/old/product/a%2Fb?x=1'), [308, '/new/product/a%2Fb?x=1'])
  for (const path of ['/older', '/new/old', '/new?next=/old']) t.same(await answer(path), [200, undefined], path)
})
