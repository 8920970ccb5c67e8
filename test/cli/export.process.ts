import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { decimal } from '../../domain/money.ts'
import type { ImportItem } from '../../domain/product-writes.ts'
import type { StockedProduct, Store } from '../../domain/store.ts'
import { productXsd } from '../../schemas/product.ts'
import { openStore } from '../../stores/open.ts'
import { makeXmlGate } from '../../xml/gate.ts'
import { draft } from '../build.ts'
import { run, start } from './run.ts'

const formats = ['xml', 'csv', 'ndjson'] as const

/** Texts that a careless writer or reader breaks; the line ends are of every kind. */
const hostile = [
  'a,b;c\td',
  '"',
  '""',
  '"a"',
  ' a ',
  '|',
  '\\',
  '\\|',
  'a|b\\|c\\\\',
  '\n',
  '\r\n',
  'a\rb',
  '<&>]]>',
  '&amp;',
  '\u{1f600}\u{10ffff}',
  'é\u0301\u200b\ufeff',
  "=1+1';--",
  'id',
  '\u0085\u2028'
]

const items: readonly ImportItem[] = [
  ...hostile.map((text, i) => ({
    id: `t-${i}`,
    draft: draft({
      name: text,
      description: hostile.join(text),
      categories: [text, ...hostile],
      images: [`/${encodeURI(text)}|`, `https://e.org/\\${i}`]
    })
  })),
  { id: '~.-_', draft: draft({ description: '', price: decimal('0.0010'), unit: 'KGM', gtin: '4006381333931', onHand: decimal('0.125') }) },
  { id: 'backordered', draft: draft({ backorder: true, onHand: decimal('-3') }) },
  ...Array.from({ length: 500 }, (_, i) => ({ id: `n-${i}`, draft: draft({ name: `Number ${i}` }) }))
]

function newShop(t: Test) {
  const folder = t.testdir()
  const at = (name: string) => ({ DATABASE_URL: `sqlite:${join(folder, name)}` })
  return { folder, at, open: (name: string) => openStore(at(name).DATABASE_URL, 'EUR') }
}

async function everything(store: Store): Promise<Omit<StockedProduct, 'version' | 'modifiedAt'>[]> {
  const found: Omit<StockedProduct, 'version' | 'modifiedAt'>[] = []
  for await (const batch of store.allProducts()) found.push(...batch.map(({ version: _version, modifiedAt: _at, ...product }) => product))
  return found
}

t.test('an export that is imported into an empty database makes the same catalogue', async (t) => {
  const { folder, at, open } = newShop(t)
  const original = await open('original.db')
  t.same(new Set(await original.importProducts(items)), new Set(['created']))
  const expected = await everything(original)
  for (const format of formats) {
    const file = join(folder, `shop.${format}`)
    t.match(await run(['export', file], at('original.db')), { status: 0, stdout: '', stderr: '' })
    const imported = await run(['import', file], at(`${format}.db`))
    t.match(imported, { status: 0, stderr: /^made a new database at .*\n$/, stdout: `${items.length} read: ${items.length} created` })
    const copy = await open(`${format}.db`)
    t.same(await everything(copy), expected, format)
    await copy.close()
    t.match(await run(['import', file], at('original.db')), { status: 0, stdout: `0 replaced, ${items.length} unchanged` })
  }
  const gate = makeXmlGate()
  t.same(gate.validate(gate.parse(readFileSync(join(folder, 'shop.xml'))), productXsd, ['catalogue']), [], 'valid against its schema')
  await original.close()
})

t.test('standard output is the default, and XML', async (t) => {
  const { at, open } = newShop(t)
  const store = await open('shop.db')
  await store.importProducts(items)
  await store.close()
  const plain = await run(['export'], at('shop.db'))
  t.match(plain, { status: 0, stdout: /^<\?xml [\s\S]*<catalogue>[\s\S]*<\/catalogue>\n$/, stderr: '' })
  t.same(await run(['export', '-', '--format', 'xml'], at('shop.db')), plain)
  const [heading = ''] = (await run(['export', '--format', 'csv'], at('shop.db'))).stdout.split('\r\n')
  t.equal(heading, 'id,name,description,price,currency,unit,minimum-quantity,quantity-step,gtin,category,image,backorder,on-hand')
})

t.test('a reader that has had enough ends it without a complaint', async (t) => {
  const { at, open } = newShop(t)
  const store = await open('shop.db')
  for (let i = 0; i < 5; i++) {
    await store.importProducts(
      Array.from({ length: 500 }, (_, n) => ({ id: `${i}-${n}`, draft: draft({ description: 'x'.repeat(2000) }) }))
    )
  }
  await store.close()
  const child = start(['export'], at('shop.db'))
  let complaint = ''
  child.stderr.on('data', (text) => (complaint += text))
  child.stdout.once('data', () => child.stdout.destroy())
  const status = await new Promise((resolve) => child.once('close', resolve))
  t.equal(status, 1)
  t.equal(complaint, '')
})

t.test('a file is replaced by a whole one or stays, and nothing else is left', async (t) => {
  const { folder, at, open } = newShop(t)
  const store = await open('shop.db')
  await store.importProducts(items)
  await store.close()
  const file = join(folder, 'shop.csv')
  t.equal((await run(['export', file], at('shop.db'))).status, 0)
  const before = readFileSync(file)
  const { ino } = statSync(file)
  t.equal((await run(['export', file], at('shop.db'))).status, 0)
  t.same(readFileSync(file), before)
  t.not(statSync(file).ino, ino, 'the new file was complete before it took the name')
  const child = start(['export', file], at('shop.db'))
  const closed = new Promise((resolve) => child.once('close', resolve))
  while (!readdirSync(folder).some((name) => name.endsWith('.partial')) && child.exitCode === null) await new Promise(setImmediate)
  child.kill('SIGINT')
  await closed
  t.same(readFileSync(file), before)
  t.match(await run(['export', join(folder, 'none', 'shop.csv')], at('shop.db')), { status: 1, stderr: /^tradepost: .*none/ })
  t.match(await run(['export', join(folder, 'shop.txt')], at('shop.db')), { status: 2, stderr: /say with --format what/ })
  t.notOk(existsSync(join(folder, 'shop.txt')) || readdirSync(folder).some((name) => name.endsWith('.partial')))
})
