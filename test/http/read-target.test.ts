import t from 'tap'
import { readTarget } from '../../http/targets.ts'

const maxLength = 100

t.test('a request target is read in its origin form, each URI in one spelling (RFC 9112 3.2, RFC 3986 6.2.2)', async (t) => {
  const rows: readonly [target: string, read: string][] = [
    ['/', '/'],
    ['/products?limit=1', '/products?limit=1'],
    ['http://shop.example/products', '/products'],
    ['HTTP://SHOP.EXAMPLE:80/products?limit=1', '/products?limit=1'],
    ['https://user@shop.example/products', '/products'],
    ['http://shop.example', '/'],
    ['http://shop.example?x=1', '/?x=1'],
    ['//products', '//products'],
    ['/http://shop.example/', '/http://shop.example/'],
    ['/product/%41BC%2d1', '/product/ABC-1'],
    ['/product/%7Etilde', '/product/~tilde'],
    ['/product/a%2fb', '/product/a%2Fb'],
    ['/product/%c3%a9', '/product/%C3%A9'],
    ['/products?q=a>b"c', '/products?q=a%3Eb%22c'],
    ['/products?q={x}|[y]', '/products?q=%7Bx%7D%7C%5By%5D'],
    ['/products?q=%26%3d+%2B', '/products?q=%26%3D+%2B'],
    ['/product/%2541', '/product/%2541']
  ]
  for (const [target, read] of rows) t.equal(readTarget(target, maxLength), read, target)
})

t.test('an invalid request target is refused, with the reason', async (t) => {
  const rows: readonly [target: string, code: string, reason: RegExp][] = [
    ['*', 'malformed-request', /path/],
    ['products', 'malformed-request', /path/],
    ['ftp://shop.example/products', 'malformed-request', /path/],
    ['shop.example:443', 'malformed-request', /path/],
    ['/products#top', 'malformed-request', /fragment/],
    ['/product/%zz', 'malformed-request', /percent/],
    ['/product/%', 'malformed-request', /percent/],
    ['/product/%4', 'malformed-request', /percent/],
    ['/product/%ff', 'malformed-request', /percent/],
    ['/product/%c0%af', 'malformed-request', /percent/],
    ['/products?q=%ff', 'malformed-request', /percent/],
    ['/product/a%00', 'malformed-request', /NUL/],
    [`/${'a'.repeat(maxLength)}`, 'uri-too-long', /100 bytes/]
  ]
  for (const [target, code, message] of rows) t.match(readTarget(target, maxLength), { code, message }, target.slice(0, 40))
})
