/**
 * Full-text search: the index and the search queries. The words are split by the shop, so that the same words find the same
 * products as with SQLite's tokenizer (https://sqlite.org/fts5.html#unicode61_tokenizer). PostgreSQL's parsers split differently:
 * they take `M8-20` for a number and `a.b/c` for a URL.
 */

import { hash } from 'node:crypto'
import { findsLonger, indexedWords, longestWord, type Searchable, type SearchTerm, searchTerms } from '../search-words.ts'

/** PostgreSQL stores no position above this (https://www.postgresql.org/docs/current/textsearch-limitations.html). */
const maxPositions = 16_383
/** In UTF-16 code units. PostgreSQL's limits are 2 KiB for a lexeme, which `longestWord` never reaches, and 1 MiB for a document. */
const longestDocument = 200_000

/** The lexeme that finds a whole token. */
function lexeme(token: string): string {
  return token.length > longestWord ? digest(token) : token
}

/** The lexemes under which a token is indexed. A token that is too long for a lexeme has its digest and its prefix. */
function lexemes(token: string): string[] {
  return token.length > longestWord ? [digest(token), token.slice(0, longestWord)] : [token]
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 32)
}

/** The text of a product's `tsvector`. */
export function wordsOf({ id, gtin, name, description, categories }: Searchable): string {
  return [...positioned([id, gtin ?? '', name, description ?? '', ...categories]), ...categories.map(categoryWord)].join(' ')
}

/** The words of texts with their positions. A phrase never matches across two texts. */
function positioned(texts: readonly string[]): string[] {
  const positions = new Map<string, number[]>()
  let at = 0
  let size = 0
  for (const text of texts) {
    for (const token of indexedWords(text)) {
      at += 1
      size += token.length
      if (at > maxPositions || size > longestDocument) break
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

/** A category as one lexeme, whatever characters it has. No token begins with an equals sign. */
function categoryWord(category: string): string {
  return `'=${digest(category)}'`
}

/**
 * The text of a `tsquery` that finds all words of a text, within a category if one is given; undefined if the text has no
 * word. A word that the tokenizer splits, such as `M8-20`, is a phrase, whose last part may be a prefix. Tokens have letters
 * and digits only, so nothing in them is an operator.
 */
export function searchFor(text: string, category?: string): string | undefined {
  const exact = (words: string) =>
    indexedWords(words)
      .map((token) => `'${lexeme(token)}'`)
      .join(' <-> ')
  const phrase = ({ word, synonyms }: SearchTerm) => {
    const found = exact(word)
    const itself = found !== '' && findsLonger(word) ? `${found}:*` : found
    return [itself, ...synonyms.map(exact)].join(' | ')
  }
  const words = new Set(searchTerms(text).map(phrase))
  words.delete('')
  if (words.size === 0) return undefined
  return [...[...words].map((phrase) => `(${phrase})`), ...(category === undefined ? [] : [categoryWord(category)])].join(' & ')
}
