import { gtinLengths, isGtin, type Product, searchWords } from '../domain/product.ts'

/** The shortest search word that also finds longer words. Shorter prefixes match so many words that a search takes seconds. */
const shortestPrefix = 3
/** The longest search word that also finds longer words, in UTF-16 code units. A search word above it finds only the same word. */
export const longestWord = 255

/** The sign between the numbers of a size, such as `M8 × 40`. Few keyboards have the multiplication sign. */
const sizeSign = /(?<=\d)\s*[x×*]\s*(?=\d)/giu

/**
 * Limits of a search, because both databases read a list of products for each part of a phrase. Parts are runs of letters and digits: a size
 * of two numbers, as a phrase, has two. Of a longer word only its beginning is searched, so more is found.
 */
const most = { parts: 8, numbersOfSize: 4, wordsWithSynonyms: 4 } as const

/** The properties of a product that a search covers. */
export type Searchable = Pick<Product, 'id' | 'gtin' | 'name' | 'description' | 'categories'>

export interface SearchTerm {
  readonly word: string
  /** Other words or phrases for the same thing. */
  readonly synonyms: readonly string[]
}

/** The terms of a search text. A product must have all of them. A size is one word. */
export function searchTerms(text: string): readonly SearchTerm[] {
  const words = new Set(
    text
      .replace(sizeSign, 'x')
      .split(/[\s\p{Cc}]+/u)
      .map(beginning)
  )
  let left: number = most.wordsWithSynonyms
  return [...words].map((word) => {
    const synonyms = left > 0 ? synonymsOf(word) : []
    if (synonyms.length > 0) left--
    return { word, synonyms }
  })
}

function beginning(word: string): string {
  let parts = 0
  for (const { 0: part, index } of word.matchAll(/[\p{L}\p{N}\p{Co}\p{M}]+/gu)) {
    if (++parts === most.parts) return word.slice(0, index + part.length)
  }
  return word
}

/** A GTIN in its other lengths, or a size as it is written with a sign or a free-standing x. */
function synonymsOf(word: string): readonly string[] {
  if (isGtin(word)) return gtinLengths(word).filter((one) => one !== word)
  if ((word.match(sizeSign)?.length ?? 0) >= most.numbersOfSize) return []
  return [' ', ' x '].map((sign) => word.replace(sizeSign, sign)).filter((one) => one !== word)
}

/**
 * Letters that are another form of a letter in lower case: the micro sign of keyboards, the long s, the sigma at the end of a word, and Greek letters
 * as symbols, such as the phi of a diameter.
 */
const otherForms: Readonly<Record<string, string>> = {
  '\u00b5': '\u03bc',
  '\u017f': 's',
  '\u03c2': '\u03c3',
  '\u03d0': '\u03b2',
  '\u03d1': '\u03b8',
  '\u03d5': '\u03c6',
  '\u03d6': '\u03c0',
  '\u03f0': '\u03ba',
  '\u03f1': '\u03c1',
  '\u03f5': '\u03b5'
}
const otherForm = new RegExp(`[${Object.keys(otherForms).join('')}]`, 'g')

/**
 * The words of a text as PostgreSQL indexes them: in lower case, and without the diacritics of ASCII letters. SQLite's own tokenizer does the same
 * with Latin and Greek letters, except a few rare ones.
 */
export function indexedWords(text: string): readonly string[] {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replace(otherForm, (letter) => otherForms[letter] ?? letter)
    .replace(/([a-z])[\u0300-\u036f]+/g, '$1')
    .normalize('NFC')
    .replace(/[\u0300-\u036f]/g, '')
  return searchWords(plain)
}

/** Whether a search word also finds the longer words that begin with it. */
export function findsLonger(word: string): boolean {
  const letters = word.normalize('NFC').replace(/[\u0300-\u036f]/g, '')
  const last = searchWords(letters).at(-1) ?? ''
  return [...last].length >= shortestPrefix && last.length <= longestWord
}
