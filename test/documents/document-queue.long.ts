import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { DocumentQueue, type QueueOptions } from '../../documents/document-queue.ts'
import type { Job } from '../../documents/job.ts'
import type { Payer, Sender } from '../../documents/payer.ts'
import { Problem } from '../../http/problem.ts'
import { blockThread } from '../block-thread.ts'
import { orderXml } from '../build.ts'

const limits = { maxOrderItems: 100_000, marks: 1_000_000 }

function readJob(xml: string): Job {
  return { kind: 'read', notation: 'xml', schema: 'purchase-order', bytes: Buffer.from(xml), limits }
}

/** Takes some tenths of a second of processor time, or with more lines as much longer. */
function largeOrder(lines = 10_000): Job {
  const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
  return readJob(`<purchase-order>${item.repeat(lines)}</purchase-order>`)
}

function start(t: Test, options: Partial<QueueOptions> = {}) {
  const warnings: string[] = []
  const queue = new DocumentQueue({
    budget: 30_000,
    niceness: 0,
    window: { jobs: 64, bytes: 1 << 20 },
    warn: (_details, message) => warnings.push(message),
    ...options
  })
  t.teardown(() => queue.kill())
  return { queue, warnings }
}

/** Has a first document read, which compiles the schema too. */
async function warmUp(queue: DocumentQueue): Promise<void> {
  while (typeof (await run(queue, 'first', readJob(orderXml()))) === 'string');
}

/** A request that notes what it is charged. Its documents are refused when its sender has been charged more than `most`. */
function payerOf(
  name: string,
  { group = 'guests', signal = new AbortController().signal, most = Number.POSITIVE_INFINITY } = {} as PayerOptions
) {
  const charged: number[] = []
  const payer: Payer = {
    sender: () => ({ name, group, signal }),
    chargeWork: (milliseconds) => charged.push(milliseconds),
    workRefusal: () => (charged.reduce((total, one) => total + one, 0) > most ? new Problem('too-many-requests', 'Enough.') : undefined)
  }
  return { payer, charged }
}

type PayerOptions = Partial<Pick<Sender, 'group' | 'signal'>> & { readonly most?: number }

const run = (queue: DocumentQueue, caller: string, job: Job, group?: Sender['group']) =>
  queue.run(payerOf(caller, group ? { group } : {}).payer, job, 1)

t.test('a document is read in another process, as JSON of the domain’s value with a digest of its bytes', async (t) => {
  const { queue } = start(t)
  const outcome = await run(queue, 'a', readJob(orderXml()))
  t.match(outcome, { result: { digest: /^[0-9a-f]{64}$/ } })
  t.not(queue.pid, process.pid)
})

t.test(
  'the process has none of the settings in its environment, also none that names a file',
  { skip: process.platform !== 'linux' },
  async (t) => {
    for (const name of ['SESSION_SECRET', 'DATABASE_URL_FILE']) {
      const before = process.env[name]
      t.teardown(() => {
        if (before === undefined) delete process.env[name]
        else process.env[name] = before
      })
      process.env[name] = `the value of ${name}`
    }
    const { queue } = start(t)
    await run(queue, 'a', readJob(orderXml()))
    const environment = readFileSync(`/proc/${queue.pid}/environ`, 'utf8')
    t.match(environment, /(?:^|\0)PATH=/)
    t.notMatch(environment, /SESSION_SECRET|DATABASE_URL/)
  }
)

t.test('an outcome tells the processor time that it took, the first of its kind without its start-up', async (t) => {
  const { queue } = start(t)
  t.match(await run(queue, 'a', readJob(orderXml())), { result: {}, spent: 0 })
  const [small, large] = [await run(queue, 'a', readJob('<purchase-order/>')), await run(queue, 'a', largeOrder())]
  t.match([small, large], [{ refusal: {}, spent: Number }, { spent: Number }])
  t.ok(Object(large).spent > Object(small).spent, `${Object(large).spent} ms`)
})

t.test('the first document of a process costs its sender its own time', async (t) => {
  const { queue } = start(t)
  const [first, second] = [payerOf('a'), payerOf('a')]
  for (const { payer } of [first, second]) await queue.run(payer, largeOrder(40_000), 1)
  const [[own = 0], [usual = 0]] = [first.charged, second.charged]
  t.ok(own > usual / 3, `${own} ms, then ${usual} ms`)
})

t.test('a document over its budget is refused, and what waited behind it is read all the same', async (t) => {
  // The budget is several times what the first small document of a process takes, and a fraction of what the large one takes.
  const { queue, warnings } = start(t, { budget: 300 })
  const [large, ...small] = await Promise.all([
    run(queue, 'attacker', largeOrder(80_000)),
    ...Array.from({ length: 5 }, (_, i) => run(queue, `customer ${i}`, readJob(orderXml())))
  ])
  t.equal(large, 'too-costly')
  t.equal(small.length, 5)
  for (const outcome of small) t.match(outcome, { result: {} })
  t.match(warnings, ['the document process ended', 'the document process ended'])
})

t.test('documents that wait are refused unread once the others of their sender have used up its rate', async (t) => {
  const { queue, warnings } = start(t, { budget: 300, window: { jobs: 1, bytes: 1 } })
  await warmUp(queue)
  const { payer, charged } = payerOf('attacker', { most: 299 })
  const costly = Array.from({ length: 5 }, () => queue.run(payer, largeOrder(80_000), 1))
  const customer = run(queue, 'customer', readJob(orderXml()), 'customers')
  const [first, ...waiting] = await Promise.all(costly)
  t.equal(first, 'too-costly')
  for (const outcome of waiting) t.match(outcome, { code: 'too-many-requests' })
  t.match(await customer, { result: {} })
  t.same(charged.filter(Boolean), [300])
  t.equal(warnings.length, 1, 'one process has ended')
})

t.test(
  'documents that were in the process when it was ended are refused, too, once the others of their sender have used up its rate',
  async (t) => {
    const { queue, warnings } = start(t, { budget: 300 })
    await warmUp(queue)
    const { payer } = payerOf('attacker', { most: 299 })
    const outcomes = [largeOrder(80_000), largeOrder(80_000), largeOrder(80_000)].map((job) => queue.run(payer, job, 1))
    const customers = Array.from({ length: 5 }, (_, i) => run(queue, `customer ${i}`, readJob(orderXml()), 'customers'))
    t.same((await Promise.all(outcomes)).map((outcome) => (outcome instanceof Problem ? outcome.code : outcome)).sort(), [
      'too-costly',
      'too-many-requests',
      'too-many-requests'
    ])
    for (const outcome of await Promise.all(customers)) t.match(outcome, { result: {} })
    t.equal(warnings.length, 2, 'two processes have ended: with all the documents, and with one of them')
  }
)

t.test('documents that were in a process when it was ended are tried in turn with those that come meanwhile', async (t) => {
  const { queue } = start(t, { budget: 300 })
  await warmUp(queue)
  const done: string[] = []
  const note = (name: string) => () => done.push(name)
  const costly = Array.from({ length: 3 }, () => run(queue, 'attacker', largeOrder(80_000)).then(note('costly')))
  const { pid } = queue
  while (queue.pid === pid) await new Promise((resolve) => setTimeout(resolve, 5))
  await run(queue, 'customer', readJob(orderXml()), 'customers').then(note('small'))
  t.ok(done.length <= 2, `${done}: at most one of the costly documents came before`)
  await Promise.all(costly)
})

t.test('the sender whose documents have taken the least time is next', async (t) => {
  const { queue } = start(t, { window: { jobs: 1, bytes: 1 } })
  await warmUp(queue)
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  // This is the second document of its kind, after the one that is not charged.
  await run(queue, 'heavy', largeOrder())
  await Promise.all([
    run(queue, 'other', readJob(orderXml())).then(note('other')),
    run(queue, 'heavy', readJob(orderXml())).then(note('heavy')),
    run(queue, 'light', readJob(orderXml())).then(note('light 1')),
    run(queue, 'light', readJob(orderXml())).then(note('light 2'))
  ])
  t.same(order, ['other', 'light 1', 'light 2', 'heavy'])
})

t.test('a sender whose documents take long has no more of them in the process than its window has time for', async (t) => {
  const { queue } = start(t, { window: { jobs: 64, bytes: 1 << 20, milliseconds: 1 } })
  await warmUp(queue)
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  await run(queue, 'heavy', largeOrder())
  const heavy = Array.from({ length: 10 }, () => run(queue, 'heavy', largeOrder(1_000)).then(note('heavy')))
  await Promise.all([...heavy, run(queue, 'light', readJob(orderXml())).then(note('light'))])
  t.ok(order.indexOf('light') <= 2, `${order}: one was in the process, and one was next before the other sender came`)
})

t.test('a customer waits for one document of a guest at most, however many guests there are', async (t) => {
  const { queue } = start(t, { window: { jobs: 1, bytes: 1 } })
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const guests = Array.from({ length: 5 }, (_, i) => run(queue, `guest ${i}`, largeOrder(1_000)).then(note('guest')))
  const first = run(queue, 'customer', readJob(orderXml()), 'customers').then(note('customer'))
  const second = run(queue, 'customer', readJob(orderXml()), 'customers').then(note('customer'))
  await Promise.all([...guests, first, second])
  t.same(order, ['guest', 'customer', 'guest', 'customer', 'guest', 'guest', 'guest'])
})

t.test('a process that makes no progress is ended, however little of its budget it has used', async (t) => {
  const { queue } = start(t, { budget: 150 })
  while (typeof (await run(queue, 'a', readJob(orderXml()))) === 'string');
  process.kill(Number(queue.pid), 'SIGSTOP')
  t.equal(await run(queue, 'a', readJob(orderXml())), 'too-costly')
})

t.test('when the process is killed, what it had is done again by the next one', async (t) => {
  const { queue } = start(t)
  await run(queue, 'a', readJob(orderXml()))
  const outcomes = [largeOrder(), readJob(orderXml()), readJob(orderXml())].map((job) => run(queue, 'a', job))
  const { pid } = queue
  process.kill(Number(pid), 'SIGKILL')
  for (const outcome of await Promise.all(outcomes)) t.match(outcome, { result: {} })
  t.not(queue.pid, pid)
})

t.test('a document whose sender has gone while it waited is not read', async (t) => {
  const { queue } = start(t, { window: { jobs: 1, bytes: 1 } })
  const gone = new AbortController()
  const first = run(queue, 'a', readJob(orderXml()))
  const { payer } = payerOf('a', { signal: gone.signal })
  const second = queue.run(payer, readJob(orderXml()), 1)
  gone.abort()
  t.equal(await second, 'cancelled')
  t.match(await first, { result: {} })
  t.equal(await queue.run(payer, readJob(orderXml()), 1), 'cancelled')
})

t.test('documents that were in the process when it was ended are charged, also when their sender has gone meanwhile', async (t) => {
  const { queue } = start(t, { budget: 300, window: { jobs: 2, bytes: 1 << 20 } })
  const gone = new AbortController()
  const { payer, charged } = payerOf('a', { signal: gone.signal })
  const first = [1, 2].map(() => run(queue, 'a', readJob(orderXml())))
  const costly = [1, 2].map(() => queue.run(payer, largeOrder(80_000), 1))
  await Promise.all(first)
  const { pid } = queue
  while (queue.pid === pid) await new Promise((resolve) => setTimeout(resolve, 5))
  gone.abort()
  t.same(await Promise.all(costly), ['too-costly', 'too-costly'])
  t.same(charged, [300, 300])
})

t.test('an idle process ends, and the next document starts another', async (t) => {
  const { queue, warnings } = start(t, { idle: 1 })
  t.match(await run(queue, 'a', readJob(orderXml())), { result: {} })
  while (queue.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await run(queue, 'a', readJob(orderXml())), { result: {} })
  t.same(warnings, [])
})

t.test('a document that comes while an idle process is ending is read by another one', async (t) => {
  const idle = 20
  const { queue, warnings } = start(t, { idle })
  t.match(await run(queue, 'a', readJob(orderXml())), { result: {} })
  // This timer is due in the same turn of the event loop as the one that ends the process, right after it.
  const ending = new Promise((resolve) => setTimeout(resolve, idle))
  blockThread(2 * idle)
  await ending
  t.match(await run(queue, 'a', readJob(orderXml())), { result: {} })
  t.same(warnings, [])
})

t.test('a job that fails because of a bug is logged, unlike one that is refused', async (t) => {
  const { queue, warnings } = start(t)
  t.match(await run(queue, 'a', { ...readJob(orderXml()), schema: 'none' } as Job), { failed: /there is no document schema none/ })
  t.match(await run(queue, 'a', readJob('<purchase-order/>')), { refusal: { code: 'invalid-document' } })
  t.same(warnings, ['a document could not be handled'])
})
