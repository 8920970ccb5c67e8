import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import libxmljs from 'libxmljs2'
import t from 'tap'
import type { FinishedJob, Job } from '../../documents/job.ts'
import { makeRunner } from '../../documents/run.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { batchFiller, batchMember, join } from '../../xml/batch.ts'
import { batchPartFor } from '../../xml/schema-part.ts'
import { orderXml } from '../build.ts'
import { strangeOrder, validOrder } from '../schemas/arbitrary-order.ts'

const corpus = new URL('../corpus/', import.meta.url)
const item = (content: string) => `<purchase-order><item>${content}</item></purchase-order>`
const limits = { marks: 100_000, maxOrderItems: 100 }

/** Accepted orders, orders that are refused for different reasons, and documents that cannot be validated in a batch. */
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
  `${orderXml()}</${batchMember}><${batchMember}>${orderXml()}`,
  `<${batchFiller}/>`,
  `<!--></${batchMember}><${batchMember}><!---->${orderXml()}`,
  '<purchase-order><item></purchase-order>',
  '</purchase-order><purchase-order>',
  '<!DOCTYPE x><purchase-order/>',
  ''
]

const job = (text: string, schema: string): Job => ({ kind: 'read', notation: 'xml', bytes: Buffer.from(text), schema, limits })
const jobs = [
  ...texts.map((text) => job(text, 'purchase-order')),
  { ...job(orderXml(), 'purchase-order'), isAscii: true },
  { ...job(item('<product-id>a</product-id><quantity>1</quantity><note>\u00e4</note>'), 'purchase-order'), isAscii: true },
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
      // The jobs are copied, because a job can be read only once.
      const outcomes = [...together(batch.map((i) => ({ ...jobs[i] }) as Job))].map(withoutCost)
      t.same(
        outcomes,
        batch.map((i) => expected[i])
      )
    }),
    { numRuns: 200 }
  )
})

const options = { nonet: true, big_lines: true, encoding: 'UTF-8' }
const parse = (text: string) => libxmljs.parseXml(Buffer.from(text) as unknown as string, options)
const wholeSchema = parse(orderXsd.source.toString())

/** What libxml2 says of a document alone, by the whole schema. */
function isValid(text: string): boolean {
  try {
    const document = parse(text)
    return document.errors.length === 0 && document.validate(wholeSchema)
  } catch {
    return false
  }
}

t.test('no document is accepted together with others that libxml2 refuses by the whole schema', async (t) => {
  const [together, alone] = [makeRunner(), makeRunner()]
  const count = { accepted: 0, refused: 0 }
  const order = fc.oneof({ weight: 6, arbitrary: validOrder }, { weight: 1, arbitrary: strangeOrder })
  const property = fc.property(fc.array(order, { minLength: 2, maxLength: 12 }), (batch) => {
    const outcomes = [...together(batch.map((text) => job(text, 'purchase-order')))].map(withoutCost)
    for (const [i, text] of batch.entries()) {
      const outcome = outcomes[i] ?? {}
      assert.deepEqual(outcome, withoutCost([...alone([job(text, 'purchase-order')])][0] as FinishedJob), text)
      const isAccepted = 'result' in outcome
      count[isAccepted ? 'accepted' : 'refused']++
      if (isAccepted) assert.ok(isValid(text), text)
    }
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }))
  t.ok(count.accepted > 500 && count.refused > 100, JSON.stringify(count))
})

t.test('a document that would hide the next one, if the guard let it pass, makes the joined documents invalid', async (t) => {
  const schema = parse(batchPartFor(orderXsd.source.toString(), ['purchase-order'], 2))
  const isValidTogether = (first: string, second: string) => parse(join([first, second]).xml).validate(schema)
  t.ok(isValidTogether(orderXml(), orderXml()))
  t.notOk(isValidTogether(`${orderXml()}<!--`, '-->'))
  t.notOk(isValidTogether(`${orderXml()}<![CDATA[`, ']]>'))
  t.notOk(isValidTogether(orderXml() + orderXml(), ''))
  t.notOk(isValidTogether(orderXml(), ''))
})

t.test('the lines of errors in joined documents belong to those that libxml2 refuses alone', async (t) => {
  const broken = strangeOrder.filter((text) => {
    try {
      return parse(text).errors.length === 0 && !isValid(text)
    } catch {
      return false
    }
  })
  const property = fc.property(fc.array(fc.oneof(validOrder, broken), { minLength: 2, maxLength: 8 }), (batch) => {
    const joined = join(batch)
    const document = parse(joined.xml)
    document.validate(parse(batchPartFor(orderXsd.source.toString(), ['purchase-order'], joined.size)))
    const found = new Set(document.validationErrors.map(({ line }) => joined.documentAt(line ?? 0)))
    assert.deepEqual(
      [...found].sort((a, b) => a - b),
      batch.flatMap((text, i) => (isValid(text) ? [] : [i]))
    )
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 150 }))
})
