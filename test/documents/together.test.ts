import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import type { FinishedJob, Job } from '../../documents/job.ts'
import { makeRunner } from '../../documents/run.ts'
import { orderXml } from '../build.ts'

const corpus = new URL('../corpus/', import.meta.url)
const item = (content: string) => `<purchase-order><item>${content}</item></purchase-order>`
const limits = { marks: 100_000, maxOrderItems: 100 }

/** Orders that are accepted and orders that are refused, each for a reason of its own; with everything that has no place in a batch. */
const texts: readonly string[] = [
  ...readdirSync(corpus).map((name) => readFileSync(new URL(name, corpus), 'utf8')),
  orderXml(),
  orderXml({ a: 1, b: 2, c: 3 }),
  `<?xml version="1.0" encoding="UTF-8"?>\n<!-- a note -->\n${orderXml()}<!-- the end -->\n<?target data?>`,
  `\uFEFF${orderXml()}`,
  item('<product-id><![CDATA[a&b]]></product-id><quantity>1</quantity>'),
  item('<product-id>a</product-id><quantity unit="KGM">0.5</quantity><extension><any xmlns="urn:x"><tradepost-batch/></any></extension>'),
  '<purchase-order xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://127.0.0.1:9/a.xsd"><item><product-id>a</product-id><quantity>1</quantity></item></purchase-order>',
  '<p:purchase-order xmlns:p="urn:x"><p:item/></p:purchase-order>',
  '<purchase-order xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/>',
  item('<product-id>a</product-id><quantity>1e3</quantity>'),
  item('<product-id>a</product-id><quantity>0</quantity>'),
  item('<quantity>1</quantity><product-id>a</product-id>'),
  item('<product-id>a</product-id>'),
  item('<product-id>a</product-id><quantity>1</quantity><quantity>1</quantity>'),
  '<purchase-order/>',
  '<order/>',
  '<tradepost-batch><purchase-order/></tradepost-batch>',
  '<purchase-order><item></purchase-order>',
  '</purchase-order><purchase-order>',
  '<!DOCTYPE x><purchase-order/>',
  ''
]

const job = (text: string, schema: string): Job => ({ kind: 'read', notation: 'xml', bytes: Buffer.from(text), schema, limits })
const jobs = [
  ...texts.map((text) => job(text, 'purchase-order')),
  job('<order-status><status>shipped</status></order-status>', 'order-status'),
  job('<product id="a"><name>A</name><price>1</price><unit>C62</unit></product>', 'product'),
  {
    kind: 'read',
    notation: 'json',
    bytes: Buffer.from('{"item":[{"product-id":"a","quantity":1}]}'),
    schema: 'purchase-order',
    limits
  } as const
]

const withoutCost = ({ spent: _spent, ...result }: FinishedJob) => result

t.test('documents that are read together have the outcomes that each has alone', async (t) => {
  const [together, alone] = [makeRunner(), makeRunner()]
  const expected = jobs.map((one) => [...alone([one])].map(withoutCost)[0])
  t.ok(expected.filter((outcome) => outcome && 'result' in outcome).length > 8, 'some are accepted')
  t.ok(expected.filter((outcome) => outcome && 'refusal' in outcome).length > 10, 'some are refused')
  t.notOk(
    expected.some((outcome) => outcome && 'failed' in outcome),
    'none fails unexpectedly'
  )

  const accepted = expected.flatMap((outcome, i) => (outcome && 'result' in outcome ? [i] : []))
  const mostlyAccepted = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...accepted) }, { weight: 1, arbitrary: fc.nat(jobs.length - 1) })
  fc.assert(
    fc.property(fc.array(mostlyAccepted, { minLength: 2, maxLength: 24 }), (batch) => {
      // Each batch has jobs of its own: a job is read once.
      const outcomes = [...together(batch.map((i) => ({ ...jobs[i] }) as Job))].map(withoutCost)
      t.same(
        outcomes,
        batch.map((i) => expected[i])
      )
    }),
    { numRuns: 200 }
  )
})
