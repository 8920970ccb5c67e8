/** Full-text search with SQLite's FTS5 (https://sqlite.org/fts5.html): the index and the search expressions. */

import { hash } from 'node:crypto'
import { hasSearchWord, searchWords } from '../../domain/product.ts'
import { findsLonger, indexedWords, type Searchable, searchTerms } from '../search-words.ts'
import type { Connection } from './connection.ts'

/**
 * The most longer words that are looked up for one word of a search, and for all of them. FTS5 reads the products of a prefix to the end before
 * it gives the first, and those of words as they are needed: a page of a common word among 1,000,000 products takes 0.6 ms instead of 55.
 * A look-up takes 30 µs.
 */
const mostLonger = { word: 64, search: 256 } as const

/** The longer words of the index that begin with a word; undefined if they are more than `most`. */
export type LongerWords = (word: string, most: number) => readonly string[] | undefined

/** The characters of a search word if the shop knows how the index writes it. SQLite takes many newer signs for letters. */
const latin = /^[\0-\u017e]+$/
/** Letters of Latin-1 and Latin Extended-A, but not the long s, and digits. */
export const latinWord = /^[a-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017e]+$/i

/** A search word as the index has it; undefined for a phrase, and where only the index knows how it is written. */
function asIndexed(word: string): string | undefined {
  const [only = '', ...others] = searchWords(word)
  return others.length === 0 && latin.test(word) && latinWord.test(only) ? indexedWords(only)[0] : undefined
}

export function makeLongerWords(db: Connection): LongerWords {
  db.exec("CREATE VIRTUAL TABLE temp.product_word USING fts5vocab('main', 'product_text', 'instance')")
  const from = db.prepare<[string], string>('SELECT term FROM temp.product_word WHERE term >= ? LIMIT 1').pluck()
  // 0 is the first character that a word can have, so this is the first word after it.
  const after = (word: string) => from.get(`${word}0`)

  return (word, most) => {
    const longer: string[] = []
    for (let next = after(word); next?.startsWith(word); next = after(next)) {
      if (longer.length === most) return undefined
      longer.push(next)
    }
    return longer
  }
}

/**
 * The expression that finds all words of a text, within a category if one is given; undefined if the text has no word.
 * Every word is a quoted string, in which quotes are doubled, so nothing in it is an operator. Where a word also finds
 * longer words, any of them is searched if they are few, and otherwise the word as a prefix.
 */
export function matchExpression(text: string, category: string | undefined, longerWords: LongerWords): string | undefined {
  const terms = searchTerms(text).filter(({ word }) => hasSearchWord(word))
  if (terms.length === 0) return undefined
  let left: number = mostLonger.search
  const alternatives = (word: string) => {
    if (!findsLonger(word)) return [quoted(word)]
    const indexed = asIndexed(word)
    if (indexed === undefined) return [prefix(word)]
    const most = Math.min(mostLonger.word, left)
    const longer = longerWords(indexed, most)
    left -= longer?.length ?? most
    return longer === undefined ? [prefix(word)] : [word, ...longer].map(quoted)
  }
  const all = terms.map(({ word, synonyms }) => [...alternatives(word), ...synonyms.map(quoted)])
  const single = all.filter(({ length }) => length === 1)
  const several = all.filter(({ length }) => length > 1).map((any) => `(${any.join(' OR ')})`)
  // Strings without an operator between them mean AND. Unlike the operator, this ignores a string without tokens.
  const every = [...(single.length > 0 ? [single.join(' ')] : []), ...several].join(' AND ')
  const within = category === undefined ? '' : ` AND facet : "${facet(category)}"`
  return `{identity name description categories} : (${every})${within}`
}

function quoted(phrase: string): string {
  return `"${phrase.replaceAll('"', '""')}"`
}

/** Also finds the words that begin with a phrase. */
function prefix(phrase: string): string {
  return `${quoted(phrase)} *`
}

/** A category as one token, whatever characters it has. */
function facet(category: string): string {
  return `c${hash('sha256', category).slice(0, 32)}`
}

function texts({ id, gtin, name, description = '', categories }: Searchable): string[] {
  const identity = gtin === undefined ? id : `${id} ${gtin}`
  return [identity, name, description, categories.join('\n'), categories.map(facet).join(' ')]
}

/**
 * Changes of the index, which are buffered until the end of a transaction: at every savepoint FTS5 writes its memory to a new
 * segment (fts5_main.c, fts5SavepointMethod), which halves the rate of an import.
 */
export interface TextIndex {
  /** Replaces the indexed texts of a product if they have changed. Undefined stands for a product that is not active. */
  write(seq: number, before: Searchable | undefined, now: Searchable | undefined): void
  /** The number of buffered changes. `dropAfter` drops the changes after it. */
  mark(): number
  dropAfter(mark: number): void
  flush(): void
}

interface Change {
  readonly seq: number
  readonly indexed: boolean
  readonly now: Searchable | undefined
}

export function makeTextIndex(db: Connection): TextIndex {
  const insert = db.prepare('INSERT INTO product_text (rowid, identity, name, description, categories, facet) VALUES (?, ?, ?, ?, ?, ?)')
  const remove = db.prepare<[number]>('DELETE FROM product_text WHERE rowid = ?')
  const json = (p: Searchable | undefined) => p && JSON.stringify([p.id, p.name, p.description, p.categories, p.gtin])
  const changes: Change[] = []

  return {
    write(seq, before, now) {
      if (json(before) !== json(now)) changes.push({ seq, indexed: before !== undefined, now })
    },
    mark() {
      return changes.length
    },
    dropAfter(mark) {
      changes.length = mark
    },
    flush() {
      for (const { seq, indexed, now } of changes) {
        if (indexed) remove.run(seq)
        if (now) insert.run(seq, ...texts(now))
      }
      changes.length = 0
    }
  }
}
