import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative } from 'node:path'
import t from 'tap'
import { newShop, summary } from './import-shop.ts'
import { run } from './run.ts'

const [xml, csv, ndjson] = [
  `<?xml version="1.0"?>
<catalogue>
  <product id="A"><name>Bolt, "hex"</name><price currency="EUR">9.90</price><category>a|b</category><category>c</category>
    <image href="https://e.org/1.jpg"/><on-hand>2.5</on-hand></product>
  <product id="B"><name>Nut</name><description/><price>1</price><unit>KGM</unit><minimum-quantity>10</minimum-quantity><quantity-step>2.50</quantity-step><gtin>4006381333931</gtin><backorder>allowed</backorder></product>
</catalogue>
`,
  `id,name,description,price,currency,unit,minimum-quantity,quantity-step,gtin,category,image,backorder,on-hand
A,"Bolt, ""hex""",,9.90,EUR,,,,,a\\|b|c,https://e.org/1.jpg,,2.5
B,Nut,"",1,,KGM,10,2.50,4006381333931,,,allowed,
`,
  `{"id":"A","name":"Bolt, \\"hex\\"","price":{"value":"9.90","currency":"EUR"},"category":["a|b","c"],"image":[{"href":"https://e.org/1.jpg"}],"onHand":"2.5"}
{"id":"B","name":"Nut","description":"","price":"1","unit":"KGM","minimumQuantity":10,"quantityStep":2.50,"gtin":"4006381333931","backorder":"allowed"}
`
]

t.test('XML, CSV and JSON lines say the same: what one created is unchanged to the others', async (t) => {
  const shop = await newShop(t)
  t.match(await shop.importText('shop.xml', xml), { status: 0, stdout: summary(2, 0, 0, 0), stderr: '' })
  t.match(await shop.importText('shop.csv', csv), { status: 0, stdout: summary(0, 0, 2, 0), stderr: '' })
  t.match(await shop.importText('shop.jsonl', ndjson), { status: 0, stdout: summary(0, 0, 2, 0), stderr: '' })
  const store = await shop.store()
  t.match(await store.product('A'), {
    name: 'Bolt, "hex"',
    price: '9.90',
    categories: ['a|b', 'c'],
    images: ['https://e.org/1.jpg'],
    unit: 'C62',
    version: 1
  })
  t.match(await store.product('B'), {
    description: '',
    unit: 'KGM',
    minimumQuantity: '10',
    quantityStep: '2.50',
    gtin: '4006381333931',
    backorder: true,
    version: 1
  })
  t.equal((await store.stock('A')).onHand, '2.5')
  await store.close()
})

t.test('an error in XML is reported with its line, and stops nothing else', async (t) => {
  const shop = await newShop(t)
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!-- <product> is nothing here -->
<catalogue>
  <product id="A-1"><name>One</name><price>1.00</price></product>
  <product id="A-2">
    <name>Two</name>
    <price>1,00</price>
  </product>
  junk
  <product id="A-3"><name>Three</nam><price>1.00</price></product>
  <product id="A-4"><name>Four &bad;</name><price>1.00</price></product>
  <product
    id="A-5"><name>Five <![CDATA[</product>]]></name><!-- </product> --><price>1.00</price><gtin>4006381333932</gtin></product>
  <product id="A-6"><name>Six</name><price>1.00</price>
  <product id="A-7"><name>Seven</name><price currency="USD">1.00</price></product>
  <product><name>Eight</name><price>1.00</price></product>
  <product id="A-9"><name a="<">Nine</name><price>1.00</price></product>
  <product id="A-10"><name>Ten</name><price>1.00</price><on-hand>5</on-hand></product>
</catalogue>
more`
  const { status, stdout, stderr } = await shop.importText('shop.xml', text)
  t.equal(status, 1)
  t.equal(stdout, summary(2, 0, 0, 10))
  const lines = stderr.trimEnd().split('\n')
  t.match(lines, [
    /^shop\.xml:7: .*1,00/,
    /^shop\.xml:9: .*<product>/,
    /^shop\.xml:10: .*<\/nam>.*line 10/,
    /^shop\.xml:11: .*&bad;/,
    /^shop\.xml:13: .*4006381333932/,
    /^shop\.xml:14: .*not closed/,
    /^shop\.xml:15: A-7: .*USD/,
    /^shop\.xml:16: .*no id/,
    /^shop\.xml:17: .*</,
    /^shop\.xml:20: .*<\/catalogue>/
  ])
  t.equal(lines.length, 10)
})

t.test('an error in CSV is reported with its line and column, and stops nothing else', async (t) => {
  const shop = await newShop(t)
  const text = `id,name,description,price,currency,category
B-1,"two
lines",,9.99,EUR,
B-2,Two,,x,,
,No id,,1,,

B-3,Too many,,1,,,,
B-4,"bad"quote,,1,,
B-5,3.5" disk,,1,,
B-6,"open,,1,,
B-7,Seven,,1,USD,
B-8,Eight,,1
`
  const { status, stdout, stderr } = await shop.importText('shop.csv', text)
  t.equal(status, 1)
  t.equal(stdout, summary(2, 0, 0, 7))
  t.match(stderr.trimEnd().split('\n'), [
    /^shop\.csv:4: price: The value is "x"; it must be a price with up to 12 digits/,
    /^shop\.csv:5: .*no id/,
    /^shop\.csv:7: .*8 cells, but there are 6 columns/,
    /^shop\.csv:8: .*quote/,
    /^shop\.csv:9: .*quote/,
    /^shop\.csv:10: .*quote/,
    /^shop\.csv:11: B-7: .*USD/
  ])
})

t.test('an error in JSON lines is reported with its line and a pointer, and stops nothing else', async (t) => {
  const shop = await newShop(t)
  const text = `{"id":"C-1","name":"One","price":"1.00"}

{"id":"C-2","name":"Two","price":1e0}
{"id":"C-3","name":"Three"
{"id":"C-4","nam":"Four","name":"Four","price":"1.00","category":["a","\\u0000"]}
[]
{"id":".","name":"Six","price":"1.00"}
{"id":"C-7","name":"Seven","price":1.50}`
  const { status, stdout, stderr } = await shop.importInput(text, '--format', 'ndjson')
  t.equal(status, 1)
  t.equal(stdout, summary(2, 0, 0, 5))
  t.match(
    stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.replace('standard input', '-')),
    [/^-:3: \/price: .*"1e0"/, /^-:4: .*JSON/, /^-:5: \/nam: /, /^-:5: \/category\/1: /, /^-:6: .*object/]
  )
  t.match(stderr, /^standard input:7: .*"\."/m)
})

t.test('products that are as large as they may be are validated in parts, and one that is too large for that is refused', async (t) => {
  const shop = await newShop(t)
  const image = Array.from({ length: 100 }, () => ({ href: `/${'&'.repeat(1_590)}` }))
  const products = Array.from({ length: 30 }, (_, i) => JSON.stringify({ id: `L-${i}`, name: 'Large', price: '1', image }))
  const tooLarge = JSON.stringify({ id: 'X', name: '&'.repeat(1_900_000), price: '1' })
  const { status, stdout, stderr } = await shop.importInput([...products, tooLarge].join('\n'), '--format', 'ndjson')
  t.equal(status, 1)
  t.equal(stdout, summary(30, 0, 0, 1))
  t.match(stderr, /^standard input:31: .*more than 2097152 characters/m)
})

t.test('a malformed file is refused before anything is stored, or where it stops being well-formed', async (t) => {
  const shop = await newShop(t)
  const refused: [string, string | Buffer, RegExp][] = [
    ['root.xml', '<products><product/></products>', /line 1: .*<catalogue>, not <products>/],
    ['namespace.xml', '<catalogue xmlns="urn:x"/>', /line 1: /],
    ['doctype.xml', '<!DOCTYPE catalogue [<!ENTITY a "b">]>\n<catalogue/>', /DOCTYPE/],
    ['latin.xml', '<?xml version="1.0" encoding="ISO-8859-1"?><catalogue/>', /ISO-8859-1/],
    ['empty.xml', '', /no <catalogue>/],
    ['column.csv', 'id,title\nA,b\n', /no column "title": use id, /],
    ['twice.csv', 'id,name,name\n', /name occurs twice/],
    ['no-price.csv', 'id,name\nA,b\nC,d\n', /^tradepost: no-price\.csv: line 1: the heading has no column price, which every product/],
    ['no-id.csv', 'price\n1\n', /the heading has no column id and no column name, which every product needs\n$/],
    ['empty.csv', '', /heading/],
    ['utf16.csv', Buffer.from('\ufeffid,name', 'utf16le'), /UTF-8 at line 1/]
  ]
  for (const [name, text, reason] of refused) t.match(await shop.importText(name, text), { status: 1, stdout: '', stderr: reason }, name)
  const lines = Array.from({ length: 700 }, (_, i) => `{"id":"p${i}","name":"n","price":"1"}\n`).join('')
  const cut = await shop.importText('bytes.ndjson', Buffer.concat([Buffer.from(lines.repeat(4)), Buffer.from([0xff, 0x0a])]))
  t.match(cut, { status: 1, stdout: '', stderr: /ended early; \d+ read: .*\ntradepost: .*: the text is not in UTF-8/ })
})

t.test('the complete products of a file that is cut off are imported', async (t) => {
  const shop = await newShop(t)
  const { status, stdout, stderr } = await shop.importText('cut.xml', xml.slice(0, xml.indexOf('<price>1')))
  t.match({ status, stdout }, { status: 1, stdout: summary(1, 0, 0, 2) })
  t.match(stderr, /cut\.xml:5: .*within a product[\s\S]*cut\.xml:5: .*cut off/)
})

t.test('a dry run says what would be, and stores nothing', async (t) => {
  const shop = await newShop(t)
  const first = await shop.importText('shop.csv', `${csv}C,,,1,,,,,,,\n`, '--dry-run')
  t.match(first, { status: 1, stdout: summary(2, 0, 0, 1).replace('\n', ' (a dry run: nothing was stored)\n') })
  const store = await shop.store()
  t.equal(await store.isEmpty(), true)
  await store.close()
})

t.test('a dry run without a database says what an import into a new one would do, and makes none', async (t) => {
  const folder = t.testdir({})
  const [settings, temporary] = [{ DATABASE_URL: `sqlite:${join(folder, 'data', 'shop.db')}` }, join(folder, 'temporary')]
  mkdirSync(temporary)
  const ran = await run(['import', '-', '--format', 'csv', '--dry-run'], { ...settings, TMPDIR: temporary }, csv)
  t.match(ran, { status: 0, stdout: `${summary(2, 0, 0, 0).trimEnd()} (a dry run: nothing was stored)\n`, stderr: '' })
  t.notOk(existsSync(join(folder, 'data')))
  t.same(readdirSync(temporary), [], 'nor does anything temporary stay')
})

t.test('a dry run tells what the import will do, also where lines that are far apart are about one product or one GTIN', async (t) => {
  const shop = await newShop(t)
  const [first, second, third] = ['4006381333931', '9520714000376', '9520714014830']
  const heading = 'id,name,price,gtin\n'
  await shop.importText('before.csv', `${heading}old,Old,1,${first}\nleft,Left,1,${second}\nright,Right,1,${third}\n`)
  const others = Array.from({ length: 700 }, (_, i) => `n-${i},n,1,\n`).join('')
  const text = `${heading}old,Old,1,\nleft,Left,1,\nright,Right,1,${second}\nleft,Left,1,${third}\ntwice,Twice,1,9520714000383\n${others}\
new,New,1,${first}\ntwice,Twice,1,9520714000383\nother,Other,1,9520714000383\ntwice,Other,1,\nother,Other,1,9520714000383\nright,Right,2,${second}\n`
  const dryRun = await shop.importText('shop.csv', text, '--dry-run')
  t.equal(dryRun.stdout, summary(703, 6, 1, 1).replace('\n', ' (a dry run: nothing was stored)\n'))
  t.equal(
    dryRun.stderr,
    `shop.csv:5: left: The same id is on line 3. The later line counts.
shop.csv:708: twice: The same id is on line 6. The later line counts.
shop.csv:709: other: The product twice already has the GTIN 9520714000383. Correct the GTIN here or there.
shop.csv:710: twice: The same id is on line 6. The later line counts.
shop.csv:712: right: The same id is on line 4. The later line counts.
`
  )
  const done = await shop.importText('shop.csv', text)
  t.same({ ...done, stdout: `${done.stdout.trimEnd()} (a dry run: nothing was stored)\n` }, dryRun)
})

t.test('a stray quote spoils only its own line, however many lines follow', async (t) => {
  const shop = await newShop(t)
  const rows = Array.from({ length: 100_000 }, (_, i) => `A${i},x,1\n`).join('')
  const text = `id,name,price\nB0,"open quote,1.00\n${rows}A,x,y\n`
  const { status, stdout, stderr } = await shop.importText('shop.csv', text)
  t.match({ status, stdout }, { status: 1, stdout: summary(100_000, 0, 0, 2) })
  t.match(stderr.trimEnd().split('\n'), [/^shop\.csv:2: .*quote/, /^shop\.csv:100003: price: /])
})

t.test('CSV of other spreadsheets: semicolons, a byte order mark, columns that are there twice', async (t) => {
  const shop = await newShop(t)
  const text = '\ufeffId;Name;Price;Category;category\r\nS-1;"a;b";1;x;y|z\r\n'
  t.match(await shop.importInput(text, '--format', 'csv'), { status: 0, stdout: summary(1, 0, 0, 0), stderr: '' })
  const store = await shop.store()
  t.match(await store.product('S-1'), { name: 'a;b', categories: ['x', 'y', 'z'] })
  await store.close()
})

t.test('wrong usage is status 2', async (t) => {
  const shop = await newShop(t)
  t.match(await shop.importInput('', '--format', 'xls'), { status: 2, stderr: /no format "xls": use xml, csv, ndjson/ })
  t.match(await shop.importInput(''), { status: 2, stderr: /^tradepost: standard input needs --format xml, csv or ndjson\n/ })
  t.match(await run(['import'], {}), { status: 2, stderr: /^tradepost: FILE is missing\n/ })
  const name = join(t.testdir({ 'shop.txt': '' }), 'shop.txt')
  const refused = { status: 2, stderr: /shop\.txt" does not end with \.xml, \.csv, \.ndjson or \.jsonl: say with --format what/ }
  t.match(await run(['import', name], {}), refused)
})

t.test('a file that is not there is one line, whatever its extension', async (t) => {
  for (const name of ['shop.xml', 'shop.csv', 'shop.xlsx', 'shop']) {
    const stderr = `tradepost: /nowhere/${name} cannot be read: there is no such file; check its name and its folder\n`
    t.same(await run(['import', `/nowhere/${name}`], {}), { status: 1, stdout: '', stderr })
  }
})

t.test('a file that cannot be imported at all is named with the reason', async (t) => {
  const folder = t.testdir({ 'shop.csv': 'sku,title\n' })
  const file = join(folder, 'shop.csv')
  const ran = await run(['import', file], { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}` })
  t.ok(ran.stderr.includes(`tradepost: ${file}: line 1: there is no column "sku": use id, `), ran.stderr)
})

t.test('an unreadable file is one line', async (t) => {
  const folder = t.testdir({ 'locked.csv': csv })
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}` }
  mkdirSync(join(folder, 'folder.csv'))
  // Relative, since the path of a socket can only have a hundred characters.
  const server = createServer().listen(relative('', join(folder, 'socket.csv')))
  t.teardown(() => server.close())
  await once(server, 'listening')
  chmodSync(join(folder, 'locked.csv'), 0)
  // Root can read every file, so only another user is refused.
  const reasons = {
    folder: 'it is a folder',
    socket: 'it is a socket',
    ...(process.getuid?.() === 0 ? {} : { locked: 'this user has no permission' })
  }
  for (const [name, reason] of Object.entries(reasons)) {
    const ran = await run(['import', join(folder, `${name}.csv`)], settings)
    t.match(ran, { status: 1, stdout: '', stderr: new RegExp(`^tradepost: .*${name}\\.csv cannot be read: ${reason}.*\n$`) }, name)
  }
})
