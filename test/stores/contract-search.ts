import type { Rule } from './contract.ts'
import { draft, found } from './fixtures.ts'

export function searchContract(rule: Rule): void {
  rule('a search finds the products that have all of its words, in any of their texts, in any case', async (t, store) => {
    await store.createProduct('ABC-1', draft({ name: 'Red hammer', description: 'Forged steel', gtin: '4006381333931' }))
    await store.createProduct('XYZ-2', draft({ name: 'Blue hammer', categories: ['Steel works'] }))
    t.same(await found(store, { q: 'HAMMER' }), ['ABC-1', 'XYZ-2'])
    t.same(await found(store, { q: 'steel hammer' }), ['ABC-1', 'XYZ-2'])
    t.same(await found(store, { q: 'hammer  red' }), ['ABC-1'])
    t.same(await found(store, { q: 'red blue' }), [])
    t.same(await found(store, { q: 'ABC-1' }), ['ABC-1'])
    t.same(await found(store, { q: '4006381333931' }), ['ABC-1'])
    t.same(await found(store, { q: 'hammer', category: 'Steel works' }), ['XYZ-2'])
    t.same(await found(store, { q: 'red', category: 'Steel works' }), [])
    await store.putProduct('ABC-1', draft({ name: 'Red saw' }), {})
    t.same(await found(store, { q: 'forged' }), [])
    t.same(await found(store, { q: 'saw' }), ['ABC-1'])
  })

  rule('a word of three letters or more also finds the longer words that begin with it', async (t, store) => {
    await store.createProduct('FX-4762', draft({ name: 'Sechskantschraube M8x20', description: 'Größe XL, verzinkt' }))
    await store.createProduct('FX-47', draft({ name: 'Hammer M10', gtin: '4006381333931' }))
    await store.createProduct('FX-4', draft({ name: 'Sägeblatt', categories: ['Werkzeuge'] }))
    for (const [q, ids] of [
      ['sechs', ['FX-4762']],
      ['SECHSKANTSCHRAUBE', ['FX-4762']],
      ['ver sechs', ['FX-4762']],
      ['gro', ['FX-4762']],
      ['sag', ['FX-4']],
      ['ham', ['FX-47']],
      ['m10', ['FX-47']],
      ['werk', ['FX-4']],
      ['400638', ['FX-47']],
      ['m8x', ['FX-4762']],
      ['FX-476', ['FX-4762']]
    ] as const) {
      t.same(await found(store, { q }), ids, q)
    }
    t.same(await found(store, { q: 'schraube' }), [], 'not with what is inside of them')
    for (const [q, ids] of [
      ['m8', []],
      ['se', []],
      ['FX-4', ['FX-4']],
      ['FX-47', ['FX-47']]
    ] as const) {
      t.same(await found(store, { q }), ids, `${q} is whole`)
    }
    t.same(await found(store, { q: 'werkz', category: 'Werkzeuge' }), ['FX-4'])
    t.same(await found(store, { q: 'ham', category: 'Werkzeuge' }), [])
  })

  rule('a word finds its longer words, few or many, with and without diacritics, and in each of the other words', async (t, store) => {
    const words = (beginning: string, count: number) => Array.from({ length: count }, (_, i) => `${beginning}${i}`)
    await store.createProduct(
      'few',
      draft({ name: 'Gr\u00f6\u00dfentabelle Gru\u0308npflanze zzz', description: words('mutter', 5).join(' ') })
    )
    await store.createProduct('many', draft({ name: words('zange', 99).join(' '), description: 'Mutter' }))
    await store.createProduct('one', draft({ name: 'Zangen 0zange zang zzz\u{10ffff}', categories: ['Muttern', 'Zange50'] }))
    for (const [q, ids] of [
      ['mut', ['few', 'many', 'one']],
      ['mutter', ['few', 'many', 'one']],
      ['muttern', ['one']],
      ['mutter4', ['few']],
      ['zange', ['many', 'one']],
      ['zange9', ['many']],
      ['zan', ['many', 'one']],
      ['zang zange mutter', ['many', 'one']],
      ['zzz', ['few', 'one']],
      ['0za', ['one']],
      ['gro', ['few']],
      ['gr\u00f6\u00df', ['few']],
      ['GR\u00dcN', ['few']],
      ['gru\u0308n', ['few']],
      ['mutter-zange5', []],
      ['zange98-mut', []],
      ['zange97-zange9', ['many']]
    ] as const) {
      t.same(await found(store, { q }), ids, q)
    }
    t.same(await found(store, { q: 'mutter zange5', category: 'Muttern' }), ['one'])
  })

  rule('a search finds a product by its GTIN in each length, beside other words', async (t, store) => {
    await store.createProduct('a', draft({ name: 'Red hammer', gtin: '09520728834110', categories: ['Tools'] }))
    await store.createProduct('b', draft({ name: 'Blue hammer', gtin: '96385074' }))
    await store.createProduct('c', draft({ name: 'Case for 9520728834110' }))
    for (const q of ['9520728834110', '09520728834110']) t.same(await found(store, { q }), ['a', 'c'], q)
    for (const q of ['96385074', '000096385074', '00000096385074']) t.same(await found(store, { q }), ['b'], q)
    t.same(await found(store, { q: 'red 9520728834110' }), ['a'])
    t.same(await found(store, { q: '9520728834110 hammer red' }), ['a'])
    t.same(await found(store, { q: '9520728834110 96385074' }), [])
    t.same(await found(store, { q: '9520728834110', category: 'Tools' }), ['a'])
    t.same(await found(store, { q: '9520728834119' }), [], 'a wrong check digit')
  })

  rule('a letter is found in each of its forms: micro signs, long s, Greek sigma and symbols', async (t, store) => {
    const forms = [
      ['Filter 10 \u00b5m', 'Filter 10 \u03bcm', 'FILTER 10 \u039cM'],
      ['\u017ftopper', 'STOPPER', 'stopper', '\u1e9btopper'],
      ['Rod \u03d512', 'Rod \u03c612'],
      ['\u03d0\u03d1\u03d6\u03f0\u03f1\u03f5', '\u03b2\u03b8\u03c0\u03ba\u03c1\u03b5'],
      ['\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2', '\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3']
    ]
    for (const [i, names] of forms.entries())
      for (const [n, name] of names.entries()) await store.createProduct(`${i}.${n}`, draft({ name }))
    for (const [i, names] of forms.entries()) {
      const all = names.map((_, n) => `${i}.${n}`)
      for (const q of names) t.same(await found(store, { q }), all, q)
    }
    t.same(await found(store, { q: '\u03a3\u038a\u03a3' }), ['4.0', '4.1'], 'a sigma at the end of a search word that begins a longer one')
  })

  rule('a search finds a size, however it is written', async (t, store) => {
    const written = ['Bolt M8 × 40', 'Bolt M8x40', 'Bolt M8 x 40', 'Bolt M8×40', 'Bolt M8X40-A2']
    for (const [i, name] of written.entries()) await store.createProduct(String(i), draft({ name }))
    await store.createProduct('other', draft({ name: 'Bolt M8 × 45, 40 pieces' }))
    await store.createProduct('panel', draft({ name: 'Panel 3 × 20 × 40 mm' }))
    const all = ['0', '1', '2', '3', '4']
    for (const q of ['M8 x 40', 'm8x40', 'M8 × 40', 'M8×40', 'M8*40', 'bolt M8 X 40']) t.same(await found(store, { q }), all, q)
    t.same(await found(store, { q: '3x20x40' }), ['panel'])
    t.same(await found(store, { q: '20 x 40' }), ['panel'])
    t.same(await found(store, { q: 'M8x40" "' }), all, 'a quote is no syntax')
    t.same(await found(store, { q: 'M8x' }), ['1', '4'], 'a size that is not complete is a word')
  })

  rule('a search text is words and never syntax', async (t, store) => {
    await store.createProduct('a', draft({ name: 'this AND that "quoted" OR (NEAR) name:x' }))
    await store.createProduct('b', draft({ name: 'nothing else' }))
    for (const q of ['AND', '"quoted"', '"quoted', "'", 'OR', 'NEAR', '(near', 'that)', 'name:x', '\0that\0', 'that\t\n this']) {
      t.same(await found(store, { q }), q === "'" ? ['a', 'b'] : ['a'], JSON.stringify(q))
    }
    for (const q of [
      'tha*',
      'NOT this',
      'name:this',
      '{name}:that',
      'this OR nothing',
      '^this -that x!y',
      '%',
      '_',
      '\\',
      '\u{1f600} & | ! <->'
    ]) {
      await t.resolves(found(store, { q }), JSON.stringify(q))
    }
    t.same(await found(store, { q: 'this OR nothing' }), [])
    t.same(await found(store, { q: 'tha*' }), ['a'], 'as without the star')
  })

  rule('a search without a word is no filter', async (t, store) => {
    await store.createProduct('a', draft())
    for (const q of ['', ' ', '"', '-- !']) t.same(await found(store, { q }), ['a'], JSON.stringify(q))
  })
}
