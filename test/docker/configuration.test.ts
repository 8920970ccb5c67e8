/** What nginx, the image and the service must agree on, though each has its own configuration. */
import diagnostics from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { FastifyInstance, RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { buildOps } from '../../app.ts'
import { readConfig } from '../../config.ts'
import { ordersSorting } from '../../http/masked-names.ts'
import { writeCursor } from '../../http/paging.ts'
import { longestPreferredWait } from '../../http/preferences.ts'
import { maskSecrets } from '../../logging/options.ts'
import { build } from '../build.ts'
import { routedPaths } from '../routes/api-walk.ts'

const nginx = readFileSync('docker/nginx.conf', 'utf8')
const dockerfile = readFileSync('docker/Dockerfile', 'utf8')
const defaults = readConfig({})

/** What a pattern finds in the configuration of nginx, which must be once. */
function only(pattern: RegExp): string {
  const found = [...nginx.matchAll(new RegExp(pattern, 'gm'))].map(([, value = '']) => value)
  if (found.length !== 1) throw new Error(`${pattern} is ${found.length} times in nginx.conf`)
  return found[0] ?? ''
}

/** Reads a number with a unit of nginx: of time in seconds, and of memory in bytes. */
function amount(text: string): number {
  const units = { s: 1, d: 86_400, k: 1024, m: 1024 ** 2 }
  const [, number, unit] = /^(\d+)([sdkm])$/.exec(text) ?? []
  if (number === undefined) throw new Error(`${text} is no number with a unit`)
  return Number(number) * units[unit as keyof typeof units]
}

/** A regular expression of nginx (PCRE) in JavaScript's notation. */
function regExp(pcre: string): RegExp {
  const isSingleLine = pcre.includes('(?s)')
  const flags = `${pcre.startsWith('~*') ? 'i' : ''}${isSingleLine ? 's' : ''}`
  return new RegExp(pcre.replace(/^~\*?/, '').replace('(?s)', '').replaceAll('\\z', '$'), flags)
}

t.test('nginx waits longer for an answer than a request for events may wait', async (t) => {
  const timeouts = [...nginx.matchAll(/proxy_read_timeout (\S+);/g)].map(([, timeout = '']) => amount(timeout))
  t.ok(timeouts.length > 0)
  for (const seconds of timeouts) t.ok(seconds >= longestPreferredWait + 10, `${seconds} s`)
  t.equal(only(/Longer than the (\d+) seconds that a request for events may wait/), String(longestPreferredWait))
})

t.test('nginx has the time limits of the service for a request, and closes idle connections to it first', async (t) => {
  t.equal(amount(only(/^ *client_header_timeout (\S+);/)), defaults.HEADERS_TIMEOUT)
  t.equal(amount(only(/^ *client_body_timeout (\S+);/)), defaults.REQUEST_TIMEOUT)
  const idle = amount(only(/^ *upstream shop \{[^}]*\bkeepalive_timeout (\S+);/))
  t.ok(idle + 10 <= defaults.KEEP_ALIVE_TIMEOUT, `${idle} s`)
  t.equal(only(/The service closes idle connections after (\d+) s/), String(defaults.KEEP_ALIVE_TIMEOUT))
})

t.test('nginx keeps a stale answer for as long as it may be used', async (t) => {
  t.equal(amount(only(/^ *proxy_cache_path .* inactive=(\S+)/)), defaults.CACHE_STALE_IF_ERROR)
})

t.test('nginx takes larger requests than the service, which refuses them itself', async (t) => {
  t.ok(amount(only(/^ *large_client_header_buffers \d+ (\S+);/)) > defaults.MAX_URL_LENGTH)
  t.ok(amount(only(/^ *client_max_body_size (\S+);/)) > defaults.BODY_LIMIT)
})

t.test('nginx and the image have the port of the service', async (t) => {
  const port = String(defaults.PORT)
  t.equal(only(/^ *server shop:(\d+) /), port)
  t.equal(/^EXPOSE (.*)$/m.exec(dockerfile)?.[1], port)
  t.equal(/^HEALTHCHECK .* port: OPS_PORT \|\| PORT \|\| (\d+),/m.exec(dockerfile)?.[1], port)
})

t.test('the access log of nginx shows as much of an order’s id as the log of the service, also in a query and in a cursor', async (t) => {
  const id = '01234567-89ab-4def-8123-456789abcdef'
  const path = regExp(only(/^ *map \$uri \$logged_path \{\s*"([^"]*)"/))
  const { path_shown: shown, path_rest: rest } = path.exec(`/shop/order/${id}/status`)?.groups ?? {}
  t.equal(`${shown}…${rest}`, maskSecrets(`/shop/order/${id}/status`))
  t.equal(shown?.replace('/shop/order/', ''), maskSecrets(id).replace('…', ''))
  const query = regExp(only(/^ *map \$args \$logged_query \{\s*"([^"]*)"/))
  const cursor = writeCursor(ordersSorting, `1 ${id}`)
  for (const masked of [`after=${cursor}`, `order=${id}`]) {
    t.match(masked, query)
    t.not(maskSecrets(masked), masked)
  }
  // In base64, what begins a cursor is only the same in each if its length is a multiple of 3.
  t.equal(ordersSorting.length % 3, 0)
  t.ok(query.source.split('|').includes(Buffer.from(ordersSorting).toString('base64url')))
  t.notMatch(`after=${writeCursor('products', 'ABC-1')}`, query)
})

t.test('nginx and BASE_URL leave the paths to the operator that are the operator’s', async (t) => {
  const { app, config } = await build(t, { settings: { OPS_PORT: '0' } })
  const ops = await buildOps({ config, app, isStopping: () => false })
  t.teardown(() => ops.close())
  const refused = regExp(only(/^ *location ~ (\S+) \{\s*return 404;/))
  const paths = routedPaths(ops)
  t.ok(paths.length > 2)
  for (const path of paths) {
    t.match(path, refused)
    const [, first = ''] = path.split('/')
    for (const BASE_URL of [`/${first}`, path, `${path}/shop`])
      t.throws(() => readConfig({ BASE_URL }), { message: /for the operator/ }, BASE_URL)
  }
  const [, words = ''] = /\(\?:([a-z|]+)\)/.exec(refused.source) ?? []
  t.same(words.split('|').sort(), [...new Set(paths.map((path) => path.split('/')[1]))].sort(), 'and no others')
  t.same(
    routedPaths(app).filter((path) => refused.test(path)),
    []
  )
  for (const word of words.split('|')) t.doesNotThrow(() => readConfig({ BASE_URL: `/${word}y` }))
})

/** The GET routes of a shop under a base path. */
async function getRoutes(t: Test, BASE_URL: string): Promise<readonly RouteOptions[]> {
  const routes: RouteOptions[] = []
  const collect = (message: unknown) => {
    const { fastify } = message as { readonly fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => {
      if ([route.method].flat().includes('GET')) routes.push(route)
    })
  }
  diagnostics.subscribe('fastify.initialization', collect)
  t.teardown(() => diagnostics.unsubscribe('fastify.initialization', collect))
  await build(t, { settings: { BASE_URL } })
  diagnostics.unsubscribe('fastify.initialization', collect)
  return routes
}

for (const base of ['', '/shop']) {
  t.test(`under ${base}/ nginx caches what every cache may keep, but for the root and the whole catalogue, and nothing else`, async (t) => {
    const cached = regExp(only(/^ *map \$uri \$cache_of_resource \{\s*(\S+) catalogue;/))
    const routes = await getRoutes(t, base || '/')
    t.ok(routes.length > 20)
    const isLeftOut = (url: string) => [base, `${base}/`, `${base}/catalogue`].includes(url)
    const cacheable = routes.filter(({ url, config }) => config?.caching === 'catalogue' && !isLeftOut(url))
    t.strictSame(
      routes.map(({ url }) => url).filter((url) => cached.test(url.replace(/:\w+/g, 'x.y-1'))),
      cacheable.map(({ url }) => url)
    )
  })
}

t.test('the image compiles its addons, by a setting of which npm does not warn', async (t) => {
  t.notMatch(dockerfile, 'npm_config_build_from_source')
  const [, settings = '', file = ''] = /^RUN echo '(.*)' > (\S+)$/m.exec(dockerfile) ?? []
  t.equal(file, '/etc/prebuild-installrc')
  const folder = t.testdir({ '.prebuild-installrc': settings })
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  const readSettings = createRequire(import.meta.url)('prebuild-install/rc')
  process.chdir(folder)
  t.equal(readSettings({ name: 'better-sqlite3' }).buildFromSource, true)
})

t.test('the label of the image has the version of the service', async (t) => {
  const [, version] = /^ARG VERSION=(.*)$/m.exec(dockerfile) ?? []
  t.equal(version, JSON.parse(readFileSync('package.json', 'utf8')).version)
})
