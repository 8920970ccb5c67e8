/**
 * Full text: what of a product is indexed, and how a search becomes a query. The words are split here and not by one of
 * PostgreSQL's parsers, which take `M8-20` for a number and `a.b/c` for a URL, so that the same words find the same
 * products as with SQLite's tokenizer (https://sqlite.org/fts5.html#unicode61_tokenizer).
 */

import { createHash } from 'node:crypto'
import type { Product } from '../../domain/product.ts'
import { findsLonger, longestWord } from '../search-words.ts'

/** PostgreSQL keeps no position above this (https://www.postgresql.org/docs/current/textsearch-limitations.html). */
const mostPositions = 16_383
/** In UTF-16 code units: a lexeme may have 2 KiB, which no word of `longestWord` has, and a document 1 MiB. */
const longestDocument = 200_000

/** Letters and digits, in small letters. Diacritics count, but on the letters of ASCII, as for SQLite's tokenizer. */
function tokens(text: string): string[] {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/([a-z])[\u0300-\u036f]+/g, '$1')
    .normalize('NFC')
    .replace(/[\u0300-\u036f]/g, '')
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? []
}

/** The lexeme of a whole token. */
function lexeme(token: string): string {
  return token.length > longestWord ? digest(token) : token
}

/** What a token is indexed as: one that is too long for a lexeme is found whole by its digest, and by how it begins. */
function lexemes(token: string): string[] {
  return token.length > longestWord ? [digest(token), token.slice(0, longestWord)] : [token]
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** What of a product can be searched for. */
type Searchable = Pick<Product, 'id' | 'gtin' | 'name' | 'description' | 'categories'>

/** The text of a product's `tsvector`. */
export function wordsOf({ id, gtin, name, description, categories }: Searchable): string {
  return [...positioned([id, gtin ?? '', name, description ?? '', ...categories]), ...categories.map(categoryWord)].join(' ')
}

/** The words of texts with their positions. No phrase reaches from one text into the next. */
function positioned(texts: readonly string[]): string[] {
  const positions = new Map<string, number[]>()
  let at = 0
  let size = 0
  for (const text of texts) {
    for (const token of tokens(text)) {
      at += 1
      size += token.length
      if (at > mostPositions || size > longestDocument) break
      for (const one of lexemes(token)) {
        const before = positions.get(one)
        if (before) before.push(at)
        else positions.set(one, [at])
      }
    }
    at += 1
  }
  return [...positions].map(([one, places]) => `'${one}':${places.join(',')}`)
}

/** One lexeme a category, whatever characters it has; no token begins like it. */
function categoryWord(category: string): string {
  return `'=${digest(category)}'`
}

/**
 * The text of a `tsquery` that all words of a text must match, within a category if one is given; undefined when the text
 * has no word. A word that the tokenizer splits, as `M8-20`, is a phrase, of which the last part may go on. Tokens have
 * letters and digits only, so nothing in them is an operator.
 */
export function searchFor(text: string, category?: string): string | undefined {
  const phrase = (word: string) => {
    const found = tokens(word).map((token) => `'${lexeme(token)}'`)
    return found.length > 0 && findsLonger(word) ? `${found.join(' <-> ')}:*` : found.join(' <-> ')
  }
  const words = new Set(text.split(/[\s\p{Cc}]+/u).map(phrase))
  words.delete('')
  if (words.size === 0) return undefined
  return [...[...words].map((phrase) => `(${phrase})`), ...(category === undefined ? [] : [categoryWord(category)])].join(' & ')
}
