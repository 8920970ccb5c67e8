import t from 'tap'
import { publicFiles } from '../../representations/views/public-files.ts'
import { build } from '../build.ts'

t.test('a file that pages load has a type and a strong tag of its own, and is immutable under the URI that names its digest', async (t) => {
  const { app } = await build(t, { settings: { BASE_URL: '/shop' } })
  for (const [name, { digest }] of publicFiles) {
    const plain = await app.inject({ url: `/shop/public/${name}` })
    t.equal(plain.statusCode, 200, name)
    t.match(plain.headers['content-type'], /^(text\/css|text\/javascript|image\/svg\+xml); charset=utf-8$/)
    t.equal(plain.headers['etag'], `"${digest}"`)
    t.match(plain.headers['cache-control'], /^public, max-age=10,/, 'another URI is asked for again')
    const named = await app.inject({ url: `/shop/public/${name}?v=${digest}` })
    t.match(named.headers['cache-control'], /immutable/)
    t.match((await app.inject({ url: `/shop/public/${name}?v=other` })).headers['cache-control'], /max-age=10,/)
    const again = await app.inject({ url: `/shop/public/${name}`, headers: { 'if-none-match': `"${digest}"` } })
    t.equal(again.statusCode, 304)
    t.equal(again.headers['etag'], `"${digest}"`)
    t.equal(again.body, '')
  }
})

t.test('no path leads out of the folder', async (t) => {
  const { app } = await build(t)
  for (const name of [
    '../views.ts',
    '..%2fviews.ts',
    '%2e%2e%2fviews%2flayout.eta',
    'layout.eta',
    '',
    'shop.css/',
    'SHOP.CSS',
    'shop.css%00',
    '__proto__',
    '....//....//package.json'
  ]) {
    t.match((await app.inject({ url: `/public/${name}` })).statusCode.toString(), /^40[04]$/, name)
  }
})

t.test('a script imports others by the URIs that name their digests, so a browser never runs a new one with an old one', async (t) => {
  const { app } = await build(t)
  const imported = [...publicFiles].flatMap(([name, { bytes }]) => {
    const paths = [...bytes.toString().matchAll(/\b(?:from|import) ?\(?['"]([^'"]+)['"]/g)].map(([, path]) => path ?? '')
    return paths.map((path) => ({ name, path }))
  })
  t.ok(imported.length >= 10)
  for (const { name, path } of imported) {
    const { pathname, search } = new URL(path, `http://localhost/public/${name}`)
    const answer = await app.inject({ url: `${pathname}${search}` })
    t.match(answer, { statusCode: 200, headers: { 'cache-control': /immutable/ } }, `${name} imports ${path}`)
  }
})

t.test('every page names files that there are', async (t) => {
  const { app } = await build(t)
  for (const url of ['/', '/products', '/order', '/session', '/nothing']) {
    const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
    const named = [...body.matchAll(/(?:href|src)="(\/public\/[^"]*)"/g)].map(([, path]) => path ?? '')
    t.ok(named.length >= 2)
    for (const path of named) t.match((await app.inject({ url: path })).headers['cache-control'], /immutable/, path)
  }
})
