import t, { type Test } from 'tap'
import { type ChildOptions, DocumentChild } from '../../documents/child.ts'
import type { Job } from '../../documents/job.ts'
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

function start(t: Test, options: Partial<ChildOptions> = {}) {
  const warnings: string[] = []
  const child = new DocumentChild({
    budget: 30_000,
    niceness: 0,
    window: { jobs: 64, bytes: 1 << 20 },
    warn: (_details, message) => warnings.push(message),
    ...options
  })
  t.teardown(() => child.kill())
  return { child, warnings }
}

const run = (child: DocumentChild, caller: string, job: Job) => child.run(caller, job, 1)

t.test('a document is read in another process, as JSON of the domain’s value with a digest of its bytes', async (t) => {
  const { child } = start(t)
  const outcome = await run(child, 'a', readJob(orderXml()))
  t.match(outcome, { result: { digest: /^[0-9a-f]{64}$/ } })
  t.not(child.pid, process.pid)
})

t.test('an outcome tells the processor time that it took, but for the first, which also compiles the schema', async (t) => {
  const { child } = start(t)
  t.notOk('spent' in Object(await run(child, 'a', readJob(orderXml()))))
  const [small, large] = [await run(child, 'a', readJob('<purchase-order/>')), await run(child, 'a', largeOrder())]
  t.match([small, large], [{ refusal: {}, spent: Number }, { spent: Number }])
  t.ok(Object(large).spent > Object(small).spent, `${Object(large).spent} ms`)
})

t.test('a document over its budget is refused, and what waited behind it is read all the same', async (t) => {
  // The budget is several times what the first small document of a process takes, and a fraction of what the large one takes.
  const { child, warnings } = start(t, { budget: 300 })
  const [large, ...small] = await Promise.all([
    run(child, 'attacker', largeOrder(80_000)),
    ...Array.from({ length: 5 }, (_, i) => run(child, `customer ${i}`, readJob(orderXml())))
  ])
  t.equal(large, 'too-costly')
  t.equal(small.length, 5)
  for (const outcome of small) t.match(outcome, { result: {} })
  t.match(warnings, ['the document process ended', 'the document process ended'])
})

t.test('a process that gets on with nothing is ended, however little of its budget it has used', async (t) => {
  const { child } = start(t, { budget: 150 })
  while (typeof (await run(child, 'a', readJob(orderXml()))) === 'string');
  process.kill(Number(child.pid), 'SIGSTOP')
  t.equal(await run(child, 'a', readJob(orderXml())), 'too-costly')
})

t.test('when the process is killed, what it had is done again by the next one', async (t) => {
  const { child } = start(t)
  await run(child, 'a', readJob(orderXml()))
  const outcomes = [largeOrder(), readJob(orderXml()), readJob(orderXml())].map((job) => run(child, 'a', job))
  const { pid } = child
  process.kill(Number(pid), 'SIGKILL')
  for (const outcome of await Promise.all(outcomes)) t.match(outcome, { result: {} })
  t.not(child.pid, pid)
})

t.test('a document whose sender has gone while it waited is not read', async (t) => {
  const { child } = start(t, { window: { jobs: 1, bytes: 1 } })
  const gone = new AbortController()
  const first = run(child, 'a', readJob(orderXml()))
  const second = child.run('a', readJob(orderXml()), 1, gone.signal)
  gone.abort()
  t.equal(await second, 'cancelled')
  t.match(await first, { result: {} })
  t.equal(await child.run('a', readJob(orderXml()), 1, gone.signal), 'cancelled')
})

t.test('an idle process ends, and the next document starts another', async (t) => {
  const { child, warnings } = start(t, { idle: 1 })
  t.match(await run(child, 'a', readJob(orderXml())), { result: {} })
  while (child.pid !== undefined) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await run(child, 'a', readJob(orderXml())), { result: {} })
  t.same(warnings, [])
})

t.test('a document that comes while an idle process is ending is read by another one', async (t) => {
  const idle = 20
  const { child, warnings } = start(t, { idle })
  t.match(await run(child, 'a', readJob(orderXml())), { result: {} })
  // This timer is due in the same turn of the event loop as the one that ends the process, right after it.
  const ending = new Promise((resolve) => setTimeout(resolve, idle))
  const now = performance.now()
  while (performance.now() < now + 2 * idle);
  await ending
  t.match(await run(child, 'a', readJob(orderXml())), { result: {} })
  t.same(warnings, [])
})

t.test('a job that fails by a defect is told from one that is refused, and is logged', async (t) => {
  const { child, warnings } = start(t)
  t.match(await run(child, 'a', { ...readJob(orderXml()), schema: 'none' } as Job), { failed: /there is no document schema none/ })
  t.match(await run(child, 'a', readJob('<purchase-order/>')), { refusal: { code: 'invalid-document' } })
  t.same(warnings, ['a document could not be handled'])
})
