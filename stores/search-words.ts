import { gtinLengths, isGtin } from '../domain/product.ts'

/** The shortest search word that also finds longer words. Shorter prefixes match so many words that a search takes seconds. */
const shortestPrefix = 3
/** The longest search word that also finds longer words, in UTF-16 code units. A search word above it finds only the same word. */
export const longestWord = 255

/** What stands between the numbers of a size, such as `M8 × 40`. Few keyboards have the multiplication sign. */
const sizeSign = /(?<=\d)\s*[x×*]\s*(?=\d)/giu

/** The words of a search text. A size is one word. */
export function searchWords(text: string): ReadonlySet<string> {
  return new Set(text.replace(sizeSign, 'x').split(/[\s\p{Cc}]+/u))
}

/** Other words, or phrases, for the same thing: a GTIN in its other lengths, or a size as it is written with a sign or a free-standing x. */
export function synonyms(word: string): readonly string[] {
  if (isGtin(word)) return gtinLengths(word).filter((one) => one !== word)
  return [' ', ' x '].map((sign) => word.replace(sizeSign, sign)).filter((one) => one !== word)
}

/** Whether a search word also finds the longer words that begin with it. */
export function findsLonger(word: string): boolean {
  const letters = word.normalize('NFC').replace(/[\u0300-\u036f]/g, '')
  const last = letters.match(/[\p{L}\p{N}\p{Co}]+/gu)?.at(-1) ?? ''
  return [...last].length >= shortestPrefix && last.length <= longestWord
}
