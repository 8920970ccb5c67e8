import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Answered, Sent } from '../ask.ts'
import { message } from '../http/wire.ts'
import { until } from '../until.ts'
import { commonWords, importLarge, placeLarge } from './catalogue.ts'
import { form, type HostileShop, startHostile } from './shop.ts'

const rate = 600

/** How often each status was answered. */
function countOf(answers: readonly { readonly status: number }[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Sends something many times as fast as it can, on so many connections. */
async function flood(shop: HostileShop, times: number, together: number, from: string, sent: (i: number) => Sent): Promise<Answered[]> {
  const answers: Answered[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: together })
  const senders = Array.from({ length: together }, async (_, first) => {
    for (let i = first; i < times; i += together) answers.push(await shop.send(sent(i), from, agent))
  })
  await Promise.all(senders)
  agent.destroy()
  return answers
}

/** Requests for a shop whose settings allow the largest ones. */
const long = 900_000
const tags = `"${'x'.repeat(5)}", `.repeat(10_000)

const odd: Readonly<Record<string, Sent>> = {
  '10,000 ranges in Accept': {
    path: '/product/ABC-1',
    headers: { accept: Array.from({ length: 10_000 }, (_, i) => `a/b${i};q=0.${i % 9}`).join(',') }
  },
  'ranges of many parameters': { path: '/product/ABC-1', headers: { accept: `text/html${';a="\\"\\\\"'.repeat(60_000)}` } },
  'an open quote in Accept': { path: '/product/ABC-1', headers: { accept: `"${',a/b;"'.repeat(100_000)}` } },
  'commas only': { path: '/product/ABC-1', headers: { accept: ','.repeat(long) } },
  '10,000 tags in If-None-Match': { path: '/product/ABC-1', headers: { 'if-none-match': `${tags}W/"y"` } },
  'a malformed list of tags': { path: '/product/ABC-1', headers: { 'if-none-match': `${tags}"` } },
  '10,000 tags in If-Match of a write': { method: 'DELETE', path: '/product/ABC-1', headers: { 'if-match': `${tags}W/"y"` } },
  'blanks in If-Match': { path: '/product/ABC-1', headers: { 'if-match': `${'\t '.repeat(long / 2)}x` } },
  'many preferences': { method: 'POST', path: '/order', headers: { prefer: 'return =a;b="c", '.repeat(40_000) } },
  'blanks in Prefer': { method: 'POST', path: '/order', headers: { prefer: `return${' '.repeat(long)}x` } },
  'cookies of many names': { path: '/session', headers: { cookie: Array.from({ length: 60_000 }, (_, i) => `c${i}=v`).join('; ') } },
  'one name of many cookies': { path: '/session', headers: { cookie: 'tradepost-session=x; '.repeat(40_000), accept: 'text/html' } },
  'a cookie of a long value': { path: '/session', headers: { cookie: `tradepost-session=${'%41'.repeat(long / 3)}`, accept: 'text/html' } },
  'a cookie of nothing but separators': { path: '/session', headers: { cookie: ';='.repeat(long / 2) } },
  'long credentials': { path: '/orders', headers: { authorization: `Basic ${'A'.repeat(long)}` } },
  'credentials of blanks': { path: '/orders', headers: { authorization: `Bearer${' '.repeat(long)}` } },
  'a long idempotency key': { method: 'POST', path: '/order', headers: { 'idempotency-key': `"${'\\"'.repeat(long / 2)}` } },
  'a media type of many parameters': {
    method: 'POST',
    path: '/order',
    headers: { 'content-type': `application/xml${'; charset'.repeat(90_000)}` },
    body: 'x'
  },
  'many forwarders': {
    path: '/product/ABC-1',
    headers: { 'x-forwarded-for': '1.2.3.4, '.repeat(90_000), forwarded: 'for=1.2.3.4, '.repeat(2) }
  },
  'a date of many digits': { path: '/product/ABC-1', headers: { 'if-modified-since': '1'.repeat(long) } },
  'an odd Host': { path: '/product/ABC-1', headers: { host: `${'%41'.repeat(long / 3)}:` } },
  'as many lines as can be': { path: '/product/ABC-1', headers: { x: Array.from({ length: 1_990 }, () => 'y') } },
  'a line more': { path: '/product/ABC-1', headers: { x: Array.from({ length: 2_100 }, () => 'y') } },
  'many parameters': { path: `/products?${Array.from({ length: 60_000 }, (_, i) => `p${i}`).join('&')}` },
  'one parameter many times': { path: `/products?${'limit=1&'.repeat(60_000)}` },
  'many products of a form': { path: `/order?${'product=ABC-1&'.repeat(40_000)}`, headers: { accept: 'text/html' } },
  'a long search': { path: `/products?q=${'a%20'.repeat(long / 5)}` },
  'a long category': { path: `/products?category=${'%25'.repeat(long / 5)}` },
  'a long cursor': { path: `/products?after=${'A'.repeat(long)}` },
  'a long path': { path: `/product/${'%41'.repeat(long / 5)}` },
  'many levels': { path: '/a'.repeat(long / 4) },
  dots: { path: '/%2e%2e/..'.repeat(20_000) },
  'a NUL': { path: `/product/${'%00'.repeat(1_000)}` },
  'what is no UTF-8': { path: `/product/${'%c3%28%ff'.repeat(1_000)}` },
  'what is no percent-encoding': { path: '/product/%zz%' },
  'slashes that are encoded': { path: `/product/${'%2F'.repeat(10_000)}` },
  'characters of four bytes': { path: `/product/${'%F0%9F%94%A9'.repeat(10_000)}` },
  surrogates: { path: `/products?q=${'%ED%A0%80'.repeat(10_000)}` }
}

t.test('a request that is as odd and as long as can be costs nobody else, and is no failure', async (t) => {
  const shop = await startHostile(t, {
    RATE_LIMIT: 'off',
    MAX_HEADER_SIZE: '1048576',
    MAX_HEADERS: '2000',
    MAX_URL_LENGTH: '1048576',
    TRUST_PROXY: '127.0.8.0/24'
  })
  await shop.survives(t, async () => {
    for (const [name, sent] of Object.entries(odd)) {
      const answers = await flood(shop, 4, 4, '127.0.8.1', () => sent)
      t.ok(
        answers.every(({ status }) => status < 500),
        `${name}: ${Object.keys(countOf(answers))}`
      )
    }
    await shop.recovers(t)
  })
})

/**
 * Attacks until a request is refused with this status, and the others are answered. How many wait at a time is for the machine to decide,
 * so a busy one may need several attacks.
 * The attack gives up after as many as a machine never needs.
 * @param attack gets its number, for addresses that have sent nothing
 */
async function reaches(t: Test, status: number, attack: (round: number) => Promise<readonly Answered[]>): Promise<void> {
  const answers: Answered[] = []
  for (let round = 0; round < 20 && !countOf(answers)[status]; round++) answers.push(...(await attack(round)))
  t.same(Object.keys(countOf(answers)), ['200', String(status)], JSON.stringify(countOf(answers)))
}

/** Milliseconds for which requests are counted, from the first of a sender on. */
const window = 60_000

t.test('cheap requests are counted too, and their sender gets 429 in the end', async (t) => {
  const shop = await startHostile(t)
  const attacks: Readonly<Record<string, readonly [status: number, sent: (i: number) => Sent]>> = {
    'If-None-Match: * of a product': [304, () => ({ path: '/product/ABC-1', headers: { 'if-none-match': '*' } })],
    'If-None-Match: * of a page': [304, () => ({ path: '/products', headers: { 'if-none-match': '*' } })],
    'If-None-Match: * of the catalogue': [304, () => ({ path: '/catalogue', headers: { 'if-none-match': ' * ' } })],
    'failed sign-ins': [422, (i) => ({ method: 'POST', path: '/session', headers: { ...form, accept: 'text/html' }, body: `key=tp_${i}` })],
    'guessed keys': [401, (i) => ({ path: '/orders', headers: { authorization: `Bearer tp_${i}` } })],
    nothing: [404, (i) => ({ path: `/nothing-${i}` })],
    'methods that are none': [405, () => ({ method: 'PATCH', path: '/products' })]
  }
  await shop.survives(t, async () => {
    let address = 0
    /** Sends more than is allowed in a minute. A machine that needed longer for it tries again from another address. */
    async function exceed(sent: (i: number) => Sent): Promise<Answered[]> {
      for (;;) {
        const began = performance.now()
        const answers = await flood(shop, rate + 20, 20, `127.0.10.${++address}`, sent)
        if (performance.now() - began < window) return answers
      }
    }
    for (const [name, [status, sent]] of Object.entries(attacks)) {
      const answers = await exceed(sent)
      const counts = countOf(answers)
      t.same(Object.keys(counts), [String(status), '429'], name)
      t.ok((counts[status] ?? 0) <= rate, `${counts[status]} of ${answers.length}`)
    }
    await shop.recovers(t)
  })
})

t.test('requests that take long', async (t) => {
  const shop = await startHostile(t, { KEEP_ALIVE_TIMEOUT: '3' })
  await importLarge(t, shop)
  /** Searches of one caller that can wait while those of others run: one more is 429. */
  const mostWaiting = 8
  const search = (i: number): Sent => ({
    path: `/products?limit=1000&q=${commonWords.slice(i % 3).join('+')}+${'abc'.slice(0, 1 + (i % 3))}`
  })

  /** No two are alike, because an answer that is stored costs nothing. Each looks at every product, and finds none. */
  const fruitless = (i: number): Sent => ({ path: `/products?q=${commonWords.join('+')}+none${i}` })

  await t.test('searches of one caller are bounded: more are 429', async (t) => {
    await shop.survives(t, async () => {
      await reaches(t, 429, (round) => flood(shop, 200, 200, `127.0.11.${1 + round}`, search))
      await shop.recovers(t)
    })
  })

  await t.test('searches of all callers are bounded: more are 503', async (t) => {
    await shop.survives(t, async () => {
      await reaches(t, 503, async (round) => {
        const floods = Array.from({ length: 40 }, (_, caller) => {
          const first = mostWaiting * (40 * round + caller)
          return flood(shop, mostWaiting, mostWaiting, `127.0.12.${1 + caller}`, (i) => fruitless(first + i))
        })
        return (await Promise.all(floods)).flat()
      })
      await shop.recovers(t)
    })
    t.equal((await shop.send(search(0), '127.0.12.1')).status, 200, 'and there is room again')
  })

  await t.test('long pages of what has changed, for twenty callers at once', async (t) => {
    const changed = (i: number): Sent => ({ path: `/products?limit=1000&updated-since=20${10 + (i % 10)}-01-01T00:00:00Z` })
    await shop.survives(t, async () => {
      await reaches(t, 503, async () => {
        const floods = Array.from({ length: 20 }, (_, i) => flood(shop, 20, mostWaiting, `127.0.18.${1 + i}`, changed))
        return (await Promise.all(floods)).flat()
      })
      await shop.recovers(t)
    })
  })

  await t.test('metrics of as many methods, paths and refusals as there can be, read without a pause', async (t) => {
    const paths = ['/products', '/catalogue', '/orders', '/events', '/webhooks', '/order', '/docs', '/session']
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'MKCOL', 'LOCK', 'REPORT']
    const odd = (i: number): Sent => ({ method: methods[i % methods.length] ?? '', path: paths[i % paths.length] ?? '' })
    await shop.survives(t, async () => {
      await flood(shop, 300, 20, '127.0.19.1', odd)
      t.same(countOf(await flood(shop, 400, 100, '127.0.19.1', () => ({ path: '/metrics' }))), { 200: 400 })
      await shop.recovers(t)
    })
    const { body } = await shop.send({ path: '/metrics' })
    t.match(body, /method="other",route="[^"]*products",status="405"/)
    t.notMatch(body, /method="(?:PATCH|PROPFIND|MKCOL|LOCK|REPORT)"/)
  })

  await t.test('readings of a large order wait in bounded room: more are 503', async (t) => {
    const path = await placeLarge(t, shop, '127.0.14.2')
    await shop.survives(t, async () => {
      for (const [group, accept] of ['application/xml', 'text/html'].entries()) {
        // Each reading costs some 30 requests of the rate, so one address cannot fill the room.
        const floods = Array.from({ length: 15 }, (_, i) =>
          flood(shop, 10, 10, `127.0.${16 + group}.${i + 1}`, () => ({ path, headers: { accept } }))
        )
        t.same(Object.keys(countOf((await Promise.all(floods)).flat())), ['200', '503'])
      }
      await shop.recovers(t)
    })
    t.equal((await shop.send({ path }, '127.0.14.1')).status, 200, 'and there is room again')
  })

  await t.test('readings of the whole catalogue are bounded for each caller and for all, and a slow reader keeps nobody out', async (t) => {
    const read = message('GET /catalogue')
    const asked = async (from: string) => (await shop.send({ path: '/catalogue' }, from)).status
    /** Readers without a place: those who were refused, and those who lost it to others. */
    let without = 0
    async function begin(from: string): Promise<void> {
      const socket = await shop.open(from)
      socket.once('close', () => without++)
      socket.once('data', (answer) => {
        socket.pause()
        if (!String(answer).startsWith('HTTP/1.1 200')) without++
      })
      socket.resume().write(read)
    }
    await shop.survives(t, async () => {
      await until(async () => {
        await begin('127.0.13.1')
        return (await asked('127.0.13.1')) === 429
      }, 'one caller has no place left')
      without = 0
      for (let i = 2; i <= 10; i++) for (let times = 0; times < 4; times++) await begin(`127.0.13.${i}`)
      await until(() => without > 0, 'nobody has a place left')
      await until(async () => {
        await sleep(200)
        return (await asked('127.0.13.20')) === 200
      }, 'a slow reader loses its place')
      shop.leave()
      await shop.recovers(t)
    })
    const again = await Promise.all(Array.from({ length: 4 }, () => shop.send({ path: '/catalogue' }, '127.0.13.1')))
    t.same(countOf(again), { 200: 4 }, 'and there is room again')
  })
})
