import t from 'tap'
import { localPath } from '../../http/origin.ts'

t.test('after signing in it only ever goes on to a path of this service', async (t) => {
  const good: readonly (readonly [string, string])[] = [
    ['/orders', ''],
    ['/shop/order?product=A&x=1', '/shop'],
    ['/', ''],
    ['/shop/', '/shop']
  ]
  for (const [next, base] of good) t.equal(localPath(next, base), next)
  const bad = [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'evil',
    '',
    '/\tevil',
    '/%0d\n',
    '/a\\b',
    '/..//evil.example',
    '/shop/../../evil',
    '/shopping',
    '/./',
    'javascript:alert(1)'
  ]
  for (const next of bad) t.equal(localPath(next, '/shop'), undefined, JSON.stringify(next))
  for (const next of ['/..//evil.example', '/.//evil.example']) t.equal(localPath(next, ''), undefined, next)
})
