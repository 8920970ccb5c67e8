/** The shortest search word that also finds longer words. Shorter prefixes match so many words that a search takes seconds. */
const shortestPrefix = 3
/** The length limit of a word, in UTF-16 code units. Longer words are only found as a whole. */
export const longestWord = 255

/** Whether a search word also finds the longer words that begin with it. */
export function findsLonger(word: string): boolean {
  const letters = word.normalize('NFC').replace(/[\u0300-\u036f]/g, '')
  const last = letters.match(/[\p{L}\p{N}\p{Co}]+/gu)?.at(-1) ?? ''
  return [...last].length >= shortestPrefix && last.length <= longestWord
}
