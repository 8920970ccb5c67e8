import { gtinLengths, isGtin } from '../domain/product.ts'

/** The shortest search word that also finds longer words. Shorter prefixes match so many words that a search takes seconds. */
const shortestPrefix = 3
/** The longest search word that also finds longer words, in UTF-16 code units. A search word above it finds only the same word. */
export const longestWord = 255

/** Other words for the same thing: a GTIN in its other lengths. */
export function synonyms(word: string): readonly string[] {
  return isGtin(word) ? gtinLengths(word).filter((one) => one !== word) : []
}

/** Whether a search word also finds the longer words that begin with it. */
export function findsLonger(word: string): boolean {
  const letters = word.normalize('NFC').replace(/[\u0300-\u036f]/g, '')
  const last = letters.match(/[\p{L}\p{N}\p{Co}]+/gu)?.at(-1) ?? ''
  return [...last].length >= shortestPrefix && last.length <= longestWord
}
