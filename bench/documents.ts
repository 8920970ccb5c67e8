/** Processor time of reading an order as XML, by its steps, beside libxml2's parse and validation of the same bytes. See README.md. */

import { hash } from 'node:crypto'
import libxmljs from 'libxmljs2'
import type { ReadJob } from '../documents/job.ts'
import { makeRunner } from '../documents/run.ts'
import { orderXsd, purchaseOrder } from '../schemas/purchase-order.ts'
import { readXml } from '../schemas/xml.ts'
import { join } from '../xml/batch.ts'
import { guard } from '../xml/guard.ts'
import { batchPartFor, partFor } from '../xml/schema-part.ts'
import { commandLine, interleave, machine, median, print, random, ratio, table } from './measure.ts'
import { order } from './releases.ts'

const given = commandLine({ rounds: 9, seconds: 0.2 })
const sizes = [1, 5, 20, 100] as const
const batches = [1, 8, 32] as const
/** Documents of one size. Each run reads other ones, so that nothing is remembered of them. */
const variety = 64
/** Limits of the service's defaults. */
const limits = { marks: 200_000, maxOrderItems: 10_000 }
const options = { nonet: true, compact: true, big_lines: true, encoding: 'UTF-8' }

const parse = (bytes: Buffer) => libxmljs.parseXml(bytes as unknown as string, options)
const xsd = orderXsd.source.toString()
const alone = libxmljs.parseXml(partFor(xsd, purchaseOrder.roots), options)
const together = libxmljs.parseXml(batchPartFor(xsd, purchaseOrder.roots, variety), options)
const run = makeRunner()

function mustBeValid(isValid: boolean): void {
  if (!isValid) throw new Error('an order of the bench is not valid')
}

/** Microseconds of processor time of all threads for one document. V8's helper threads, which collect the garbage, count. */
async function measure(documents: number, work: () => void): Promise<number> {
  const end = performance.now() + given.seconds * 1000
  const before = process.cpuUsage()
  let done = 0
  for (; performance.now() < end; done += documents) work()
  // The documents of libxml2 are freed when their objects are collected, which needs a turn of the event loop.
  await new Promise(setImmediate)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / done
}

/** The contestants for one size, by name. */
function contest(lines: number) {
  const next = random(given.seed)
  const documents = Array.from({ length: variety }, () => Buffer.from(order(lines, next).split('\r\n\r\n')[1] ?? ''))
  let turn = 0
  const one = () => documents[turn++ % variety] as Buffer
  const job = (bytes: Buffer): ReadJob => ({ kind: 'read', notation: 'xml', schema: purchaseOrder.name, bytes, limits })
  const read = (batch: number) => () => {
    const jobs = Array.from({ length: batch }, () => job(one()))
    for (const outcome of run(jobs)) mustBeValid('result' in outcome)
  }
  const sources = documents.map((bytes) => guard(bytes, limits.marks).source)
  const roots = sources.map((source) => readXml(source))
  const values = roots.map((root) => purchaseOrder.read(root, () => mustBeValid(false)))
  const many = parse(Buffer.from(join(sources).xml))
  const each = <T>(of: readonly T[], step: (one: T) => unknown) => ({
    documents: variety,
    work: () => {
      for (const item of of) step(item)
    }
  })
  const works = {
    ...Object.fromEntries(batches.map((batch) => [`job ${batch}`, { documents: batch, work: read(batch) }])),
    parse: each(documents, parse),
    alone: each(documents, (bytes) => mustBeValid(parse(bytes).validate(alone))),
    // The schema is compiled once for all of them.
    validate: { documents: variety, work: () => mustBeValid(many.validate(together)) },
    guard: each(documents, (bytes) => guard(bytes, limits.marks)),
    elements: each(sources, readXml),
    value: each(roots, (root) => purchaseOrder.read(root, () => mustBeValid(false))),
    answer: each(documents, (bytes) => hash('sha256', bytes).length + JSON.stringify(values[0]).length)
  }
  return Object.fromEntries(Object.entries(works).map(([name, { documents: n, work }]) => [name, () => measure(n, work)] as const))
}

const whole: string[][] = []
const steps: string[][] = []
for (const lines of sizes) {
  const runs = await interleave(given.rounds, contest(lines), given.seed)
  const figures = (name: string) => runs[name] ?? []
  const bare = figures('parse').map((time, round) => time + (figures('validate')[round] ?? Number.NaN))
  const micro = (times: readonly number[]) => median(times).toFixed(0)
  whole.push([
    String(lines),
    micro(bare),
    micro(figures('alone')),
    ...batches.flatMap((batch) => [micro(figures(`job ${batch}`)), ratio(figures(`job ${batch}`), bare).text])
  ])
  steps.push([String(lines), ...['guard', 'parse', 'validate', 'elements', 'value', 'answer'].map((name) => micro(figures(name)))])
}
print('# Reading an order as XML: µs of processor time for one document', machine(given.directory))
print(
  table(
    [
      'lines',
      'libxml2: parse and validate',
      '… with the compile',
      ...batches.flatMap((n) => [n === 1 ? 'a job alone' : `in a batch of ${n}`, 'ratio'])
    ],
    whole
  )
)
print(
  table(
    [
      'lines',
      'guard',
      'libxml2: parse',
      `validate, ${variety} under one compile`,
      'fast-xml-parser and elements',
      "the domain's value",
      'digest and JSON'
    ],
    steps
  )
)
