import t from 'tap'
import { newShop, summary } from './import-shop.ts'

t.test('an id that comes more than once is named with its lines, the last line counts, and the exit status is 0', async (t) => {
  const shop = await newShop(t)
  const rows = Array.from({ length: 700 }, (_, i) => `{"id":"n-${i}","name":"n","price":"1"}\n`).join('')
  const files = {
    'twice.ndjson': `${rows}\n{"id":"n-0","name":"Other","price":"1"}\n{"id":"N-1","name":"n","price":"1"}\n{"id":"n-0","name":"Last","price":"1"}\n`,
    'twice.csv': 'id,name,price\nA,"two\nlines",1\nB,b,1\nA,Last,1\nB,b,1\n',
    'twice.xml': `<catalogue>\n<product id="C"><name>c</name><price>1</price></product>
<product\n id="C"><name>Last</name><price>1</price></product></catalogue>`
  }
  const notes = {
    'twice.ndjson': [
      'twice.ndjson:702: n-0: The same id is on line 1. The later line counts.',
      'twice.ndjson:704: n-0: The same id is on line 1. The later line counts.'
    ],
    'twice.csv': [
      'twice.csv:5: A: The same id is on line 2. The later line counts.',
      'twice.csv:6: B: The same id is on line 4. The later line counts.'
    ],
    'twice.xml': ['twice.xml:3: C: The same id is on line 2. The later line counts.']
  }
  for (const [name, text] of Object.entries(files)) {
    const { status, stderr } = await shop.importText(name, text)
    t.same([status, stderr.trimEnd().split('\n')], [0, notes[name as keyof typeof notes]])
  }
  const store = await shop.store()
  for (const id of ['n-0', 'A', 'C']) t.equal((await store.product(id)).name, 'Last', id)
  await store.close()
  t.match(await shop.importText('twice.ndjson', rows), { status: 0, stderr: '' }, 'another import begins anew')
})

t.test('an id whose first product is refused does not come twice', async (t) => {
  const shop = await newShop(t)
  const { status, stdout, stderr } = await shop.importText('shop.csv', 'id,name,price\nA,a,x\nA,a,1\n')
  t.match({ status, stdout, stderr }, { status: 1, stdout: summary(1, 0, 0, 1), stderr: /^shop\.csv:2: price: .*\n$/ })
})
