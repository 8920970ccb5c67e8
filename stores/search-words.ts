/** A search word needs this many letters and digits to find longer words too. Shorter ones begin so many words that a search takes seconds. */
const shortestBeginning = 3
/** In UTF-16 code units. Longer words are found only whole. */
export const longestWord = 255

/** Whether a search word also finds the longer words that begin with it. */
export function findsLonger(word: string): boolean {
  const letters = word.normalize('NFC').replace(/[\u0300-\u036f]/g, '')
  const last = letters.match(/[\p{L}\p{N}\p{Co}]+/gu)?.at(-1) ?? ''
  return [...last].length >= shortestBeginning && last.length <= longestWord
}
