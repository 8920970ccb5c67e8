/** Compares reads of a large catalogue over HTTP with reads of a small one, and pages at its start, middle and end. See README.md. */

import { writeCursor } from '../http/paging.ts'
import { Connection } from '../stores/sqlite/connection.ts'
import { catalogueFile } from './catalogue-file.ts'
import { findWords } from './catalogue-words.ts'
import { heads, type Measured, row, under } from './latency.ts'
import { startLoader } from './load.ts'
import { interleave, machine, print, random, settings, table } from './measure.ts'
import { get, openFile, type Served, serve, tagOf } from './shop.ts'

const { directory, rounds, milliseconds, seed } = settings({ rounds: 9, seconds: 0.5 })
/** The target: a read may take at most this many times as long as the first row of its table. */
const target = 1.15
const sizes = { small: 1_000, large: 1_000_000 } as const
const next = random(seed)
const loader = startLoader()

interface Catalogue {
  readonly db: Connection
  readonly cached: Served
  /** Without the body cache. */
  readonly plain: Served
}

async function open(count: number): Promise<Catalogue> {
  const path = await catalogueFile(directory, count, seed)
  const store = await openFile(path)
  return { db: new Connection(path, { readonly: true }), cached: await serve(store), plain: await serve(store, { BODY_CACHE: '0' }) }
}

async function close({ db, cached, plain }: Catalogue): Promise<void> {
  db.close()
  await Promise.all([cached.close(), plain.close()])
}

/** Measures one client that sends one request at a time, so that no request waits for another. */
function alone(shop: Served, paths: readonly string[], tag?: string): () => Promise<Measured> {
  const requests = paths.map((path) => get(path, { tag }))
  return under(loader, shop, { requests, clients: 1, milliseconds, seed, status: tag === undefined ? 200 : 304 })
}

/** The paths of random products. */
function productPaths(db: Connection, count: number, different: number): string[] {
  const id = db.prepare<[number], string>('SELECT id FROM product WHERE seq = ?').pluck()
  return Array.from({ length: different }, () => `/product/${id.get(1 + Math.floor(count * next()))}`)
}

async function products(small: Catalogue, large: Catalogue): Promise<string> {
  const rows: string[][] = []
  const compare = async (what: string, cache: 'cached' | 'plain', different: number) => {
    const runs = await interleave(
      rounds,
      {
        small: alone(small[cache], productPaths(small.db, sizes.small, different)),
        large: alone(large[cache], productPaths(large.db, sizes.large, different))
      },
      seed
    )
    rows.push(row(`1,000, ${what}`, runs.small, runs.small), row(`1,000,000, ${what}`, runs.large, runs.small, target))
  }
  await compare('any product, BODY_CACHE=0', 'plain', 20_000)
  await compare('1,000 products, each requested many times', 'cached', 1_000)
  await compare('any product', 'cached', 20_000)
  return table(heads('GET /product among'), rows)
}

/** Compares pages at the start, middle and end. Each page begins at a random place within one hundredth of the catalogue. */
async function places({ db, plain }: Catalogue): Promise<string> {
  const id = db
    .prepare<[number], string>('SELECT id FROM product INDEXED BY product_live WHERE deleted = 0 ORDER BY id LIMIT 1 OFFSET ?')
    .pluck()
  const share = sizes.large / 100
  const within = (from: number) =>
    Array.from({ length: 50 }, () => `/products?after=${writeCursor('id', id.get(from + Math.floor((share - 101) * next())) ?? '')}`)
  const contest = {
    start: alone(plain, within(0)),
    middle: alone(plain, within(sizes.large / 2)),
    end: alone(plain, within(sizes.large - share))
  }
  const { start, middle, end } = await interleave(rounds, contest, seed)
  return table(heads('GET a page of 100'), [
    row('at the start', start, start),
    row('in the middle', middle, start, target),
    row('at the end', end, start, target)
  ])
}

async function notModified({ cached, plain }: Catalogue): Promise<string> {
  const tag = await tagOf(plain, '/products')
  const contest = {
    full: alone(plain, ['/products']),
    fromCache: alone(cached, ['/products']),
    unchanged: alone(plain, ['/products'], tag)
  }
  const { full, fromCache, unchanged } = await interleave(rounds, contest, seed)
  return table(heads('GET /products'), [row('200, BODY_CACHE=0', full, full), row('200', fromCache, full), row('304', unchanged, full)])
}

/** Compares searches for words that are rare or common in the catalogue with a page without a search. */
async function searches({ db, plain }: Catalogue): Promise<string> {
  const { count, common, seldom, apart } = findWords(db)
  const search = (...words: string[]) => alone(plain, [`/products?q=${words.map(encodeURIComponent).join('+')}`])
  const runs = await interleave(
    rounds,
    {
      'a page of 100, no search': alone(plain, ['/products']),
      'one product by its id': search(db.prepare<[], string>('SELECT id FROM product WHERE seq = 654321').pluck().get() ?? ''),
      [`a rare word (${count(seldom)} products)`]: search(seldom),
      [`a common word (${count(common[0])} products)`]: search(common[0]),
      [`two common words (${count(common.join(' '))} products)`]: search(...common),
      [`two common words that no product has together (${apart.map(count).join(' and ')})`]: search(...apart)
    },
    seed
  )
  const [first = []] = Object.values(runs)
  const rows = Object.entries(runs).map(([name, measured]) => row(name, measured, first))
  return table(heads('GET /products'), rows)
}

const [small, large] = [await open(sizes.small), await open(sizes.large)]
try {
  print('# Reads of a catalogue of 1,000,000 products (SQLite)', machine(directory))
  print(await products(small, large))
  print(await places(large))
  print(await notModified(large))
  print(await searches(large))
} finally {
  await Promise.all([loader.close(), close(small), close(large)])
}
