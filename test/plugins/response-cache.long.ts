import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildApp } from '../../app.ts'
import { readConfig } from '../../config.ts'
import type { Store } from '../../domain/store.ts'
import { openStore } from '../../stores/open.ts'
import { build, draft, orderXml } from '../build.ts'
import { sharedDocuments } from '../documents/shared.ts'
import { type Answer, listening, message, Wire } from '../http/wire.ts'
import { stopClock } from '../stopped-clock.ts'

/** Whether the store has versions that can be read at once. */
const isOnPostgres = process.env['TEST_DATABASE_URL'] !== undefined

/** Two services over one store: with the layer, and without it. Both are asked over sockets, since `inject` does not pass the layer. */
async function both(t: Test, settings: Readonly<Record<string, string>> = {}) {
  const { store, config } = await build(t, { products: { 'ABC-1': {}, b: { name: 'Brass nut', categories: ['Fasteners'] } } })
  let reads = 0
  const counted: Store = {
    ...store,
    product: (id) => {
      reads += 1
      return store.product(id)
    }
  }
  const serve = async (over: Store, own: Readonly<Record<string, string>>) => {
    const given = { LOG_LEVEL: 'silent', OVERLOAD_DELAY: 'off', RATE_LIMIT: 'off', DATABASE_URL: config.DATABASE_URL }
    const app = await buildApp({
      config: readConfig({ ...given, ...settings, ...own }),
      store: over,
      documents: sharedDocuments,
      release: 'test'
    })
    await listening(app)
    // Only the server is closed here. `app.close` would close the store, which both services share.
    t.teardown(() => app.server.close())
    return app
  }
  const apps = { layered: await serve(counted, {}), plain: await serve(store, { BODY_CACHE: '0' }) }
  let parsed = 0
  apps.layered.server.prependListener('request', () => parsed++)
  // A second store on the same file is like one of another process: only the file shows its writes.
  const elsewhere = await openStore(config.DATABASE_URL, config.CURRENCY)
  t.teardown(() => elsewhere.close())
  return { store, elsewhere, ...apps, reads: () => reads, parsed: () => parsed, wires: new Map<FastifyInstance, Wire>() }
}

/** All of an answer but what differs between any two: Date, the request id, and the seconds to the end of the minute. */
const comparable = ({ head, body }: Answer) =>
  `${head}\n\n${body}`
    .replace(/\r\n(date|x-request-id): [^\r]*/gi, '')
    .replace(/(ratelimit: "default";r=\d+;t=|retry-after: |Try again in )\d+/g, '$1…')

const paths = [
  '/product/ABC-1',
  '/product/%41BC-1',
  '/product/b',
  '/product/none',
  '/products',
  '/products?limit=1',
  '/products?q=nut',
  '/',
  '/products?x=1'
]
const accepts = [undefined, 'application/xml', 'application/json', 'text/html', '*/*', 'image/png', 'text/html;q=0.1, application/json']
const extras: readonly Readonly<Record<string, string | readonly string[]>>[] = [
  {},
  { 'User-Agent': 'curl/8.0', Connection: 'keep-alive' },
  { 'x-request-id': 'chosen-1' },
  { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-host': 'other.example' },
  { cookie: 'tradepost-session=x' },
  { authorization: 'Bearer tp_wrong' },
  { range: 'bytes=0-3' },
  { 'if-modified-since': 'Sun, 22 Nov 2037 09:06:45 GMT' },
  { 'if-match': '"x"' },
  { expect: '100-continue' },
  { accept: ['text/html', 'application/json'] },
  { 'content-length': '0' },
  { host: 'with space' }
]

const manner = fc.record({
  isNew: fc.constantFrom(false, false, false, true),
  cut: fc.option(fc.nat(100), { freq: 2 }),
  isTwice: fc.constantFrom(false, false, false, true)
})
const request = fc.record({
  kind: fc.constant('request' as const),
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD'),
  path: fc.constantFrom(...paths.slice(0, 3), ...paths),
  accept: fc.constantFrom(undefined, undefined, ...accepts),
  condition: fc.constantFrom(undefined, undefined, 'current', 'current', 'weak', '*', '"other"', 'broken'),
  extra: fc.constantFrom({}, {}, {}, {}, ...extras),
  times: fc.integer({ min: 1, max: 4 }),
  manner
})
/** A request that comes so often that it is answered without the parser. */
const frequent = fc.record({
  kind: fc.constant('request' as const),
  method: fc.constantFrom('GET', 'GET', 'HEAD'),
  path: fc.constantFrom('/product/ABC-1', '/product/b', '/products'),
  accept: fc.constant(undefined),
  condition: fc.constantFrom(undefined, 'current'),
  extra: fc.constantFrom({}, { 'x-forwarded-for': '192.0.2.1' }),
  times: fc.integer({ min: 1, max: 6 }),
  manner: fc.oneof(fc.constant({ isNew: false, cut: null, isTwice: false }), manner)
})
const write = fc.record({
  kind: fc.constant('write' as const),
  what: fc.constantFrom('put', 'stock', 'sell', 'delete', 'import'),
  id: fc.constantFrom('ABC-1', 'b'),
  number: fc.integer({ min: 1, max: 9 }),
  isElsewhere: fc.boolean()
})

type Sent = typeof request extends fc.Arbitrary<infer T> ? T : never
type Write = Readonly<{ what: string; id: string; number: number }>

const turn = () => new Promise(setImmediate)

async function perform(store: Store, { what, id, number }: Write): Promise<void> {
  const stocked = draft({ name: `Bolt ${number}` })
  const item = { product: { productId: id }, quantity: '1' as never, notes: [] }
  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    put: () => store.putProduct(id, stocked, {}),
    stock: () => store.putStock(id, String(number % 3) as never, {}),
    sell: () => store.placeOrder({ order: { notes: [], extensions: [], items: [item] }, status: 'accepted' }),
    delete: () => store.deleteProduct(id, {}),
    import: () => store.importProducts([{ id, draft: stocked }])
  }
  // A write may be refused: the product may be deleted, or sold out.
  await writes[what]?.().catch(() => undefined)
}

type Services = Awaited<ReturnType<typeof both>>

/** How a request is sent: on a new connection or on the last one, in two pieces or in one, and twice before its answer or once. */
interface Manner {
  readonly isNew: boolean
  readonly cut: number | null
  readonly isTwice: boolean
}

/** The next answer but 100 (Continue). */
async function finalAnswer(wire: Wire, method: string | undefined): Promise<Answer> {
  const answer = await wire.answer(method)
  return answer.status === 100 ? finalAnswer(wire, method) : answer
}

/** Sends a request on the connection of before, as long as there is one. */
async function exchange(t: Test, wires: Map<FastifyInstance, Wire>, app: FastifyInstance, bytes: string, { isNew, cut, isTwice }: Manner) {
  const method = bytes.split(' ', 1)[0]
  const wire = (isNew ? undefined : wires.get(app)) ?? (await Wire.open(t, app))
  wires.set(app, wire)
  const all = isTwice ? bytes + bytes : bytes
  wire.send(all.slice(0, cut ?? all.length))
  // The service reads the first piece by itself.
  if (cut !== null) await turn()
  if (cut !== null && cut < all.length) wire.send(all.slice(cut))
  const first = await finalAnswer(wire, method)
  const isOver = first.headers['connection'] === 'close'
  const answers = isTwice && !isOver ? [first, await finalAnswer(wire, method)] : [first]
  if (answers.some(({ headers }) => headers['connection'] === 'close')) {
    wires.delete(app)
    wire.end()
  }
  return answers
}

/** Sends a request to both services. @throws Error if their answers differ */
async function askBoth(
  t: Test,
  { layered, plain, wires }: Services,
  line: string,
  headers: Parameters<typeof message>[1],
  manner: Manner
): Promise<Answer> {
  const bytes = message(line, headers)
  const [ones, others] = await Promise.all([exchange(t, wires, layered, bytes, manner), exchange(t, wires, plain, bytes, manner)])
  const [one, other] = [ones, others].map((answers) => answers.map(comparable).join('\n---\n'))
  if (one === other && ones[0]) return ones[0]
  throw new Error(`${one}\n--- with the layer, without it:\n${other}`)
}

/** The value of If-None-Match. @param tag the current entity tag, if it is known */
function conditionOf(condition: string | undefined, tag: string | undefined): string | undefined {
  if (condition === 'current') return tag
  if (condition === 'weak') return tag && `W/${tag}`
  return condition
}

t.test('any requests and writes are answered the same with the layer and without it, byte for byte', async (t) => {
  // The minutes of the two services would not end at the same time.
  stopClock(t).followTimers()
  let [products, reads, all, parsed] = [0, 0, 0, 0]
  const steps = fc.array(fc.oneof({ weight: 2, arbitrary: request }, { weight: 4, arbitrary: frequent }, { weight: 1, arbitrary: write }), {
    minLength: 20,
    maxLength: 50
  })
  async function run(t: Test, given: typeof steps extends fc.Arbitrary<infer T> ? T : never, limit: string): Promise<void> {
    const services = await both(t, { RATE_LIMIT: limit, TRUST_PROXY: '127.0.0.1' })
    const tags = new Map<string, string | undefined>()
    const send = async ({ method, path, accept, condition, extra, times, manner }: Sent) => {
      const match = conditionOf(condition, tags.get(`${path} ${accept}`))
      const headers = {
        ...(accept === undefined ? {} : { accept }),
        ...(match === undefined ? {} : { 'if-none-match': match }),
        ...extra
      }
      for (let i = 0; i < times; i++) {
        const answered = await askBoth(t, services, `${method} ${path}`, headers, manner)
        tags.set(`${path} ${accept}`, answered.headers['etag'])
        all += manner.isTwice ? 2 : 1
        if (path.startsWith('/product/')) products += 1
      }
    }
    for (const step of given) {
      await (step.kind === 'write' ? perform(step.isElsewhere ? services.elsewhere : services.store, step) : send(step))
    }
    reads += services.reads()
    parsed += services.parsed()
  }
  const rule = fc.asyncProperty(steps, fc.constantFrom('off', '80'), async (given, limit) => {
    let failure: unknown
    // The services of each run close at its end, so that the next run has their threads: to start one takes long.
    await t.test(`with the rate limit ${limit}`, (t) => run(t, given, limit).catch((error) => (failure = error)))
    if (failure !== undefined) throw failure
  })
  await fc.assert(rule, { numRuns: 8, endOnFailure: true })
  if (isOnPostgres) return
  t.ok(reads < products, `${products} products were asked for, ${reads} were read`)
  t.ok(parsed < all, `of ${all} requests ${parsed} were parsed`)
})

t.test('a hot response is logged, measured and counted like any other', { skip: isOnPostgres && 'versions take a query' }, async (t) => {
  stopClock(t)
  const lines: string[] = []
  const { app } = await build(t, { logTo: { write: (line) => lines.push(line) }, settings: { RATE_LIMIT: '5' } })
  await listening(app)
  const wire = await Wire.open(t, app)
  const statuses: number[] = []
  const remaining: (string | undefined)[] = []
  for (let i = 0; i < 6; i++) {
    const { status, headers } = await wire.send(message('GET /product/ABC-1', { 'user-agent': 'Probe/1 tp_secret' })).answer()
    statuses.push(status)
    remaining.push(/r=(\d+)/.exec(headers['ratelimit'] ?? '')?.[1])
  }
  t.same(statuses, [200, 200, 200, 200, 200, 429])
  t.same(remaining, ['4', '3', '2', '1', '0', '0'])
  const completed = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request completed')
  t.equal(completed.length, 6)
  for (const line of completed.slice(0, 5)) {
    t.match(line, {
      level: 30,
      reqId: /^[0-9a-f]{24}$/,
      req: { method: 'GET', url: '/product/ABC-1', host: 'shop.example', remoteAddress: '127.0.0.1', userAgent: 'Probe/1 tp_…' },
      res: { statusCode: 200 },
      responseTime: Number
    })
  }
  t.equal(new Set(completed.map(({ reqId }) => reqId)).size, 6)
  t.match(await app.metrics.read(), /http_request_duration_seconds_count\{method="GET",route="\/product\/:product_id",status="200"\} 5/)
})

t.test(
  'a change of one product leaves the responses for the others, and the next response is kept in its place',
  { skip: isOnPostgres && 'versions take a query' },
  async (t) => {
    const { layered, store, reads } = await both(t)
    const wire = await Wire.open(t, layered)
    const get = async (id: string) => (await wire.send(message(`GET /product/${id}`)).answer()).body
    for (let i = 0; i < 3; i++) for (const id of ['ABC-1', 'b']) await get(id)
    const before = reads()
    await store.putProduct('b', draft({ name: 'Steel nut' }), {})
    t.match(await get('b'), /Steel nut/)
    t.equal(reads(), before + 1)
    await get('ABC-1')
    t.equal(reads(), before + 1, 'ABC-1 was not read again')
    await get('b')
    t.equal(reads(), before + 1, 'nor was the changed product')
  }
)

t.test('a product that is ordered until it is sold out shows it at once', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': { onHand: '2' as never } } })
  await listening(app)
  const wire = await Wire.open(t, app)
  const get = async () => (await wire.send(message('GET /product/ABC-1')).answer()).body
  for (let i = 0; i < 3; i++) t.match(await get(), /in-stock/)
  t.equal((await wire.send(message('POST /order', { 'content-type': 'application/xml' }, orderXml({ 'ABC-1': 2 }))).answer()).status, 201)
  t.notMatch(await get(), /in-stock/)
  await store.deleteProduct('ABC-1', {})
  t.equal((await wire.send(message('GET /product/ABC-1')).answer()).status, 410)
})
