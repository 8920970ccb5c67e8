import t from 'tap'
import { firstLink, nextLinks, pageUri, readCursor, startOfPage, writeCursor } from '../../http/paging.ts'

t.test('a cursor says where in which order it is, and only that', async (t) => {
  for (const position of ['ABC-1', 'a b  c', 'ü', '7 ABC-1']) t.equal(readCursor('id', writeCursor('id', position)), position)
  const cursor = writeCursor('id', 'ABC-1')
  t.match(cursor, /^[A-Za-z0-9_-]+$/, 'it needs no encoding in a URI')
  for (const broken of [
    '',
    'x',
    `${cursor}=`,
    `${cursor}A`,
    cursor.slice(1),
    `${cursor} `,
    writeCursor('text', 'ABC-1'),
    writeCursor('id', ''),
    Buffer.from('id').toString('base64url')
  ]) {
    t.throws(() => readCursor('id', broken), { code: 'malformed-request', faults: [{ path: 'after' }] }, broken)
  }
})

t.test('a page’s URI has what is given, percent-encoded', async (t) => {
  t.equal(pageUri('/products', {}), '/products')
  t.equal(pageUri('/products', { q: undefined, limit: 3, category: 'a & b/ü' }), '/products?limit=3&category=a+%26+b%2F%C3%BC')
})

t.test('the links of a list name its filters, its limit unless it is the default, and the position after the page', async (t) => {
  const list = { path: '/orders', sorting: 'orders', filters: { status: 'shipped' }, limit: 100 }
  t.same(firstLink(list), { rel: 'first', href: '/orders?status=shipped' })
  t.same(nextLinks(list, undefined), [])
  const after = writeCursor('orders', 'A 1')
  t.same(nextLinks({ ...list, limit: 20 }, 'A 1'), [{ rel: 'next', href: `/orders?status=shipped&limit=20&after=${after}` }])
  t.same(nextLinks({ ...list, limit: 20, defaultLimit: 20 }, 'A 1'), [{ rel: 'next', href: `/orders?status=shipped&after=${after}` }])
  t.same([startOfPage('orders', undefined), startOfPage('orders', after)], [{}, { after: 'A 1' }])
})
