import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { csvEntries } from '../../cli/import/csv-entries.ts'
import { type Entry, maxEntryLength } from '../../cli/import/entry.ts'
import { ndjsonEntries } from '../../cli/import/ndjson-entries.ts'
import { makeProgress } from '../../cli/import/progress.ts'
import { decode } from '../../cli/import/text.ts'
import { makeValidator } from '../../cli/import/validator.ts'
import { xmlEntries } from '../../cli/import/xml-entries.ts'
import { endOfRecord, readRecord, writeRecord } from '../../schemas/csv-record.ts'

async function* inPieces(text: string, size: number) {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size)
}

async function all(parts: AsyncIterable<readonly Entry[]>): Promise<Entry[]> {
  const found: Entry[] = []
  for await (const part of parts) found.push(...part)
  return found
}

interface Document {
  readonly text: string
  readonly read: (chunks: AsyncIterable<string>) => AsyncIterable<readonly Entry[]>
  /** The line of each entry, and the beginning of what is wrong with it. */
  readonly expected: readonly (readonly [line: number, detail?: string])[]
}

const documents = {
  xml: {
    text: `<?xml version="1.0"?>\n<!-- - -- > <product> -->\n<catalogue a='>'>\n<product id="a"><name>x<![CDATA[>]]]]><![CDATA[</product>]]></name>
<!-- a -> b </product> --><?pi > </product>?></product><product b=">"/>\n <bad/> text <product>\n<price>1</price>
<product c='"'>\r\n</product ><product d="<"></product>\n</catalogue>\n<!-- --> x`,
    read: (chunks) => xmlEntries(chunks, () => undefined),
    expected: [[4], [5], [6, 'Only <product>'], [6, 'The product is not closed'], [8], [9, 'There is a <'], [11, 'There must be nothing']]
  },
  csv: {
    text: 'id,name,price,category\r\na,"b\n""c""",1,x|y\r\n\r\n,"open,2\n"d"d,e,3,\nf,g,4,z\\|',
    read: csvEntries,
    expected: [[2], [5, 'A cell begins with a quote that is never closed'], [6, 'A cell with a quote'], [7]]
  },
  ndjson: {
    text: '{"id":"a"}\r\n\n  \n{"id":\n[]\n{"id":"b","name":"\u{1f600}"}',
    read: ndjsonEntries,
    expected: [[1], [4, 'The JSON cannot be read'], [5, 'The line is a list'], [6]]
  }
} as const satisfies Readonly<Record<string, Document>>

for (const [format, { text, read, expected }] of Object.entries(documents)) {
  t.test(`${format}: entries and lines are the same wherever the stream is cut`, async (t) => {
    const whole = await all(read(inPieces(text, text.length)))
    t.equal(whole.length, expected.length)
    for (const [i, [line, detail]] of expected.entries()) {
      t.equal(whole[i]?.line, line)
      t.equal(whole[i]?.faults.length, detail === undefined ? 0 : 1)
      if (detail !== undefined) t.match(whole[i]?.faults, [{ detail: new RegExp(`^${detail}`) }])
    }
    for (const size of [1, 2, 3, 5, 7, 64]) t.same(await all(read(inPieces(text, size))), whole, `pieces of ${size}`)
  })
}

const texts = fc.string({ unit: fc.constantFrom('a', ' ', ',', ';', '"', '\n', '\r', '\t', '|', '\\', '<', '&', '\u{1f600}', 'é') })

t.test('a record of CSV is read as it was written, by this reader and by another', async () => {
  const cells = fc.array(fc.option(texts, { nil: undefined }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(cells, (given) => {
      const written = writeRecord(given)
      const end = endOfRecord(written, 0)
      const ours = readRecord(written.slice(0, end - 1), ',')
      const [theirs] = parse(written, {
        record_delimiter: '\r\n',
        cast: (value, { quoting }) => (value === '' && !quoting ? undefined : value)
      })
      const same = (a: unknown) => JSON.stringify(a) === JSON.stringify(given.map((cell) => cell ?? null))
      return end === written.length - 1 && same(ours) && (given.every((cell) => cell === undefined) || same(theirs))
    }),
    { numRuns: 2000 }
  )
})

t.test("a fault in a schema's valid product has the line of its element in the file", async (t) => {
  const text = `<catalogue>
<product id="a"><name>n</name><price>1</price></product><product id="b"><!--
 --><name>n</name><price>1</price>
  <gtin>4006381333930</gtin></product>
<product id="c"><name>n</name><price>1</price>
<image href="/a.png"/><?pi

?><image
  href="//b.png"/>
</product>
<product><name>n</name><price>1</price></product>
</catalogue>`
  const found = makeValidator()(await all(xmlEntries(inPieces(text, 7), () => undefined)))
  t.match(found, [
    { item: { id: 'a' } },
    { faults: [{ detail: /check digit/, line: 4 }] },
    { faults: [{ detail: /image must be/, line: 8 }] },
    { faults: [{ detail: /no id/, line: 11 }] }
  ])
})

t.test('a product has its rule of quantities in each format', async (t) => {
  const texts: Readonly<Record<string, string>> = {
    xml: `<catalogue><product id="a"><name>n</name><price>1</price><minimum-quantity>10</minimum-quantity>
<quantity-step>2.5</quantity-step></product></catalogue>`,
    csv: 'id,name,price,minimum-quantity,quantity-step\r\na,n,1,10,2.5\r\n',
    ndjson: '{"id":"a","name":"n","price":"1","minimumQuantity":"10","quantityStep":"2.5"}\n'
  }
  const validate = makeValidator()
  for (const [format, { read }] of Object.entries(documents)) {
    const entries = await all(read(inPieces(texts[format] ?? '', 7)))
    t.match(validate(entries), [{ item: { id: 'a', draft: { minimumQuantity: '10', quantityStep: '2.5' } } }], format)
  }
})

t.test('what is wrong with a row of CSV is said by its columns, and not by elements and attributes', async (t) => {
  const text = `id,name,price,currency,image\nB 9,Nine,1,e,\n,,1,,\n${'B'.repeat(300)},"",x,,/${'i'.repeat(3000)}\n`
  const found = makeValidator()(await all(csvEntries(inPieces(text, 64)))).map((one) => ('faults' in one ? one.faults : []))
  t.match(found, [
    [
      { line: 2, path: 'id', detail: /^The value is "B 9"; it must be / },
      { line: 2, path: 'currency', detail: /^The value is "e"; it must be / }
    ],
    [{ line: 3, detail: /^The row has no id and no name\.$/ }],
    [
      { line: 4, path: 'id', detail: /^The value is "B/ },
      { line: 4, path: 'name', detail: /^The value has 0 characters; it must be / },
      { line: 4, path: 'price', detail: /^The value is "x"; it must be a price/ },
      { line: 4, path: 'image', detail: /^The value has 3001 characters; it must be / }
    ]
  ])
  t.notMatch(JSON.stringify(found), /[<>]|attribute|element/)
})

t.test('a product is validated with the same result, however many are validated at once and beside which others', async (t) => {
  const validate = makeValidator()
  const good = '<product id="p"><name>n</name><price>1</price></product>'
  const kinds = [
    good,
    '<product id="p"><name>n</name></product>',
    '<product id="p"><nam>n</name></product>',
    '<product id=".">\n<name>n</name><price>1</price></product>'
  ]
  const entries = Array.from({ length: 600 }, (_, i): Entry => ({ line: 10 * i, xml: kinds[i % 7] ?? good, faults: [] }))
  const together = validate(entries)
  t.equal(together.filter((verdict) => 'item' in verdict).length, entries.filter(({ xml }) => xml === good).length)
  for (const i of [0, 1, 2, 3, 4, 597, 598, 599]) t.same(together[i], validate(entries.slice(i, i + 1))[0], `number ${i}`)
})

t.test('progress is drawn on a terminal only, and never in the middle of a message', async (t) => {
  const draw = (isTTY: boolean, size: number | undefined) => {
    const written: string[] = []
    let now = 0
    const progress = makeProgress({ isTTY, write: (text) => written.push(text) }, size, () => (now += 1000))
    progress.show(50, 2000)
    progress.print('a message\n')
    progress.show(100, 4000)
    progress.end()
    return written
  }
  t.same(draw(false, 100), ['a message\n'])
  t.same(draw(true, 100), [
    '\r\u001b[K[############............] 50%  2,000 products, 2,000/s',
    '\r\u001b[Ka message\n',
    '\r\u001b[K[########################] 100%  4,000 products, 2,000/s',
    '\r\u001b[K'
  ])
  t.match(draw(true, undefined)[0], '2,000 products')
})

t.test('a spreadsheet is refused as no text file', async (t) => {
  for (const begin of ['504b0304', 'd0cf11e0']) {
    const bytes = (async function* () {
      yield Buffer.from(`${begin}1400`, 'hex')
    })()
    await t.rejects(all(csvEntries(decode(bytes))), /this is no text file: .*save it as CSV/)
  }
})

t.test('a quote that is not doubled is told apart from one that is never closed', async (t) => {
  const found = await all(csvEntries(inPieces('id,name,price\na,3.5" disk,1\nb,"open,2\nc,d,1\n', 100)))
  t.match(
    found.map(({ line, faults }) => [line, faults[0]?.detail]),
    [
      [2, /^A cell with a quote/],
      [3, /never closed/],
      [4, undefined]
    ]
  )
})

t.test('a line of CSV or NDJSON that is too long is one error, and the lines after it have their numbers', async (t) => {
  const long = 'x'.repeat(maxEntryLength + 128 * 1024)
  const texts = {
    csv: `id,name,price,description\na,n,1,${long}\nb,n,1,d\nc,n,1,${long}`,
    ndjson: `\n{"id":"a","name":"${long}"}\n{"id":"b","name":"n","price":"1"}\n{"id":"c","name":"${long}"}`
  }
  for (const [format, text] of Object.entries(texts)) {
    const found = await all(documents[format as keyof typeof documents].read(inPieces(text, 64 * 1024)))
    t.match(
      found.map(({ line, faults }) => [line, faults[0]?.detail]),
      [
        [2, /^The line is longer than /],
        [3, undefined],
        [4, /^The line is longer than /]
      ],
      format
    )
  }
})

t.test('a row with too many cells is told which sign must be in quotes', async (t) => {
  for (const [sign, name] of [
    [',', 'a comma'],
    [';', 'a semicolon'],
    ['\t', 'a tab']
  ] as const) {
    const text = ['id,name,price', 'a,n,1,2'].join('\n').replaceAll(',', sign)
    t.match(await all(csvEntries(inPieces(text, 5))), [
      { line: 2, faults: [{ detail: new RegExp(`4 cells, .* has ${name} must be in quotes`) }] }
    ])
  }
})
