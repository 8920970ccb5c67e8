import { join } from 'node:path'
import t, { type Test } from 'tap'
import { indexedWords } from '../../stores/search-words.ts'
import { Connection } from '../../stores/sqlite/connection.ts'
import { latinWord, makeLongerWords, matchExpression } from '../../stores/sqlite/search.ts'
import { databaseFolder } from '../memory.ts'
import { newSqliteFile } from './new-database.ts'

async function index(t: Test, ...texts: readonly string[]): Promise<Connection> {
  const db = new Connection(await newSqliteFile(join(databaseFolder(t), 'shop.db')))
  t.teardown(() => db.close())
  const insert = db.prepare<[number, string]>('INSERT INTO product_text (rowid, name) VALUES (?, ?)')
  db.transaction(() => {
    for (const [i, text] of texts.entries()) insert.run(i + 1, text)
  })()
  return db
}

const numbered = (beginning: string, count: number) => Array.from({ length: count }, (_, i) => `${beginning}${i}`)

t.test('where a word has few longer words, each is looked up as a word, whose products are read only as they are needed', async (t) => {
  const longerWords = makeLongerWords(await index(t, 'bolt bolts', `boltcutter bol boltz\u00e4hler ${numbered('nut', 65).join(' ')}`))
  t.same(longerWords('bolt', 3), ['boltcutter', 'bolts', 'boltzahler'])
  t.equal(longerWords('bolt', 2), undefined)
  t.same(longerWords('boltz', 3), ['boltzahler'])
  t.same(longerWords('zzz', 0), [])
  const expression = (text: string) =>
    matchExpression(text, undefined, longerWords)?.replace('{identity name description categories} : ', '')
  t.equal(expression('screw'), '("screw")')
  t.equal(expression('Bolt screw'), '("screw" AND ("Bolt" OR "boltcutter" OR "bolts" OR "boltzahler"))')
  t.equal(expression('nut'), '("nut" *)', 'of these there are too many')
  t.equal(expression('bolt-nut'), '("bolt-nut" *)', 'the parts of a phrase are read once')
  t.equal(expression('b\u00f6lt'), '(("b\u00f6lt" OR "boltcutter" OR "bolts" OR "boltzahler"))')
  t.equal(
    expression('\u0431\u043e\u043b\u0442'),
    '("\u0431\u043e\u043b\u0442" *)',
    'of other scripts only the index knows how it writes them'
  )
  t.equal(expression('bolt\u{1f6d2}'), '("bolt\u{1f6d2}" *)', 'for the index this is one word')
  t.equal(expression('(bolt)'), '(("(bolt)" OR "boltcutter" OR "bolts" OR "boltzahler"))')
})

t.test('all words of a search together have few longer words', async (t) => {
  const few = ['bolt', 'nut', 'pin', 'rod'].flatMap((word) => numbered(word, 60))
  const longerWords = makeLongerWords(await index(t, [...few, ...numbered('many', 65), ...numbered('most', 65)].join(' ')))
  const longer = (text: string) => matchExpression(text, undefined, longerWords)?.match(/ OR /g)?.length
  t.equal(longer('bolt nut pin'), 180)
  t.equal(longer('bolt nut pin rod pin1'), 250)
  t.equal(longer('many bolt nut pin'), 180, 'in any order')
  t.equal(longer('many most bolt nut pin'), 120, 'what was looked up in vain counts')
})

t.test('a Latin word is indexed as the shop says', async (t) => {
  const written = Array.from({ length: 0x250 }, (_, code) => `q${String.fromCodePoint(code)}q`).filter((word) => latinWord.test(word))
  t.ok(written.length > 200)
  const db = await index(t, ...written)
  db.exec("CREATE VIRTUAL TABLE temp.word USING fts5vocab('main', 'product_text', 'instance')")
  const indexed = db.prepare<[], string>('SELECT term FROM temp.word ORDER BY doc, offset').pluck().all()
  t.same(indexed, written.flatMap(indexedWords))
})
