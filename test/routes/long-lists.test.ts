import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { itemsOfPiece, type Pieces } from '../../representations/pieces.ts'
import { productsRepresentations } from '../../representations/product.ts'
import { build, type Shop } from '../build.ts'
import { listening, message, Wire } from '../http/wire.ts'
import { replace, stopClock } from '../stopped-clock.ts'
import { draft } from '../stores/fixtures.ts'
import { hold } from './held-verb.ts'

const isOnPostgres = process.env['TEST_DATABASE_URL'] !== undefined
const pieces = 8
const path = `/products?limit=${pieces * itemsOfPiece}`
const products = Object.fromEntries(Array.from({ length: pieces * itemsOfPiece }, (_, i) => [`P-${1000 + i}`, {}]))

/** How often a page waits instead of writing its next piece, at most, so that a test without turns fails and does not hang. */
const mostWaits = 100_000

/** Counts its calls in the current turn of the event loop. */
function countPerTurn(): () => number {
  let count = 0
  return () => {
    if (count === 0) setImmediate(() => (count = 0))
    return ++count
  }
}

/**
 * Makes each piece of a page of products take as long as a turn, and tells what is written.
 * @param options.waits whether a page that has begun waits for another turn instead of writing its next piece
 */
function watch(t: Test, { onPiece = () => {}, waits = () => false }: { onPiece?: () => void; waits?: () => boolean } = {}) {
  const { pass } = stopClock(t)
  const seen = { pieces: 0, underWay: 0, mostUnderWay: 0, mostInTurn: 0, mostOfPageInTurn: 0 }
  const countInTurn = countPerTurn()
  const [xml] = productsRepresentations.variants
  const write = xml?.writeInPieces
  if (!xml || !write) throw new Error('products are not written in pieces')
  const watched = function* (...args: Parameters<typeof write>): Pieces<string> {
    seen.mostUnderWay = Math.max(seen.mostUnderWay, ++seen.underWay)
    try {
      return yield* each(write(...args))
    } finally {
      seen.underWay--
    }
  }
  function* each(parts: Pieces<string>): Pieces<string> {
    const countOfPage = countPerTurn()
    for (let waited = 0; ; ) {
      const { done, value } = parts.next()
      seen.pieces++
      seen.mostInTurn = Math.max(seen.mostInTurn, countInTurn())
      seen.mostOfPageInTurn = Math.max(seen.mostOfPageInTurn, countOfPage())
      pass(8)
      onPiece()
      if (done) return value
      yield
      while (waits() && waited++ < mostWaits) {
        pass(8)
        yield
      }
    }
  }
  replace(t, xml, 'writeInPieces', watched)
  return seen
}

const get = ({ app }: Shop, url: string, remoteAddress: string) => app.inject({ url, remoteAddress })

t.test('others have their turn while a long page is written', async (t) => {
  const shop = await build(t, { products })
  // However long the database takes to read the product, the page is not written to its end before.
  let isAnswered = false
  const seen = watch(t, { waits: () => !isAnswered })
  const page = get(shop, path, '192.0.2.1')
  while (seen.pieces === 0) await turnOfTheLoop()
  const product = await get(shop, '/product/P-1000', '192.0.2.2')
  isAnswered = true
  t.equal(product.statusCode, 200)
  t.ok(seen.pieces < pieces, `of ${pieces} pieces, ${seen.pieces} were written before`)
  const { statusCode, headers, body } = await page
  t.equal(statusCode, 200)
  t.equal(headers['content-length'], String(Buffer.byteLength(body)))
  t.match(headers['etag'], /^"/)
  t.match(headers['link'], 'rel="describedby"')
  t.equal(seen.pieces, pieces)
  t.same(
    [...body.matchAll(/<product id="([^"]*)"/g)].map(([, id]) => id),
    Object.keys(products)
  )
})

t.test('what an address has begun goes on before its other requests begin', async (t) => {
  const shop = await build(t, { products })
  const seen = watch(t)
  const first = get(shop, path, '192.0.2.1')
  while (seen.pieces === 0) await turnOfTheLoop()
  const others = Array.from({ length: 4 }, (_, i) => get(shop, `/products?limit=${900 + i}`, '192.0.2.1'))
  for (const answer of [first, ...others]) t.equal((await answer).statusCode, 200)
  t.equal(seen.pieces, 5 * pieces)
  // On PostgreSQL some of these pages have been read by the time that the first is written.
  if (!isOnPostgres) t.equal(seen.mostUnderWay, 1)
})

const searched = `${path}&updated-since=2020-01-01T00:00:00Z`

for (const [what, url] of [
  ['pages', path],
  ['pages of a search', searched]
] as const) {
  t.test(`3 long ${what} are in memory at most, one of each caller, and however many wait, all are written in turns`, async (t) => {
    const shop = await build(t, { products })
    const seen = watch(t)
    for (const [requests, callers, most] of [
      [40, 40, 3],
      [20, 2, 2]
    ] as const) {
      seen.mostUnderWay = 0
      // Otherwise the page would come from the cache.
      await shop.store.createProduct(`NEW-${callers}`, draft())
      const answers = await Promise.all(Array.from({ length: requests }, (_, i) => get(shop, url, `192.0.2.${i % callers}`)))
      t.same(
        answers.map(({ statusCode }) => statusCode),
        Array(requests).fill(200)
      )
      t.equal(new Set(answers.map(({ body }) => body)).size, 1)
      t.ok(seen.mostUnderWay <= most, `${seen.mostUnderWay} pages of ${callers} callers`)
    }
    t.equal(seen.underWay, 0)
    // A page begins when it has been read. In a turn that has time left it goes on at once.
    t.ok(seen.mostOfPageInTurn <= 2, `${seen.mostOfPageInTurn} pieces of one page in one turn`)
    // Each of the three may write a piece, and one of them begin.
    t.ok(seen.mostInTurn <= 4, `${seen.mostInTurn} pieces in one turn`)
  })
}

t.test('searches of one caller end, although the catalogue changes while each of them is read', async (t) => {
  const shop = await build(t, { products })
  const { store } = shop
  const { revision } = store
  let changes = 0
  // Each page is found with another revision than before, and read again, until these changes end.
  store.revision = async () => {
    const now = await revision.call(store)
    return changes < 20 ? { ...now, revision: now.revision + ++changes } : now
  }
  const asked = Array.from({ length: 10 }, (_, i) => get(shop, i % 2 === 0 ? searched : path, '192.0.2.1'))
  for (const answer of asked) t.equal((await answer).statusCode, 200)
  t.equal(changes, 20)
})

t.test('the turn of a long page is given back when it cannot be read, is not modified, or its client has gone', async (t) => {
  const shop = await build(t, { products })
  const { app, store } = shop
  const { products: read } = store
  store.products = () => Promise.reject(new Error('gone'))
  for (const url of [path, searched]) t.equal((await get(shop, url, '192.0.2.1')).statusCode, 500)
  store.products = read
  const { headers } = await get(shop, path, '192.0.2.1')
  const unmodified = { url: path, remoteAddress: '192.0.2.1', headers: { 'if-none-match': String(headers['etag']) } }
  t.equal((await app.inject(unmodified)).statusCode, 304)
  t.equal((await app.inject({ method: 'HEAD', url: path, remoteAddress: '192.0.2.1' })).statusCode, 200)

  await listening(app)
  const { letGo, calls } = hold(shop, 'products', Number.POSITIVE_INFINITY)
  const wires = await Promise.all(Array.from({ length: 3 }, () => Wire.open(t, app)))
  for (const wire of wires) wire.send(message(`GET ${path}&category=none`))
  while (calls() === 0) await turnOfTheLoop()
  for (const wire of wires) wire.abort()
  while (app.connections.open.size > 0) await turnOfTheLoop()
  letGo()
  for (const url of [`${path}&category=other`, searched]) t.equal((await get(shop, url, '127.0.0.1')).statusCode, 200)
})

t.test('a page that may have 100 items waits for no turn', async (t) => {
  const shop = await build(t, { products })
  const { letGo, calls } = hold(shop, 'products', 3)
  const long = Array.from({ length: 3 }, (_, i) => get(shop, path, `192.0.2.${1 + i}`))
  while (calls() < 3) await turnOfTheLoop()
  t.equal((await get(shop, '/products', '192.0.2.1')).statusCode, 200)
  t.equal((await get(shop, '/products?limit=100', '192.0.2.9')).statusCode, 200)
  letGo()
  for (const answer of long) t.equal((await answer).statusCode, 200)
})

t.test('a long page that waited for its turn for 30 s is refused', async (t) => {
  const shop = await build(t, { products })
  const { store } = shop
  const { revision } = store
  const { pass } = stopClock(t)
  let revisions = 0
  store.revision = async () => {
    const now = await revision.call(store)
    revisions++
    return now
  }
  const { letGo, calls } = hold(shop, 'products', Number.POSITIVE_INFINITY)
  const first = get(shop, path, '192.0.2.1')
  while (calls() === 0) await turnOfTheLoop()
  const before = revisions
  const second = get(shop, `${path}&category=none`, '192.0.2.1')
  // It asks for its turn after that, in the same turn of the event loop.
  while (revisions === before) await turnOfTheLoop()
  for (let i = 0; i < 5; i++) await turnOfTheLoop()
  pass(30_001)
  letGo()
  t.equal((await first).statusCode, 200)
  const { statusCode, headers, body } = await second
  t.equal(statusCode, 503)
  t.ok(headers['retry-after'])
  t.match(body, 'Ask for fewer items')
  t.equal((await get(shop, path, '192.0.2.1')).statusCode, 200)
})

t.test('a page is not written to its end for a client that has gone', async (t) => {
  const shop = await build(t, { products })
  await listening(shop.app)
  const wire = await Wire.open(t, shop.app)
  const isOpen = () => shop.app.connections.open.size > 0
  const seen = watch(t, { onPiece: () => wire.abort(), waits: isOpen })
  wire.send(message(`GET ${path}`))
  while (seen.pieces === 0 || isOpen()) await turnOfTheLoop()
  // Each piece takes one turn.
  for (let i = 0; i < pieces; i++) await turnOfTheLoop()
  t.ok(seen.pieces < pieces, `${seen.pieces} of ${pieces} pieces were written`)
  t.equal((await get(shop, '/product/P-1000', '192.0.2.2')).statusCode, 200)
})
