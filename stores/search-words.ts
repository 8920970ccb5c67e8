/** Letters and digits that a word of a search needs to find longer words too. Fewer begin so many words that finding them all takes seconds. */
const shortestBeginning = 3
/** In UTF-16 code units. Longer words are found only whole. */
export const longestWord = 255

/** Whether a word of a search also finds the longer words that begin with it. The same on every store. */
export function findsLonger(word: string): boolean {
  const letters = word.normalize('NFC').replace(/[\u0300-\u036f]/g, '')
  const last = letters.match(/[\p{L}\p{N}\p{Co}]+/gu)?.at(-1) ?? ''
  return [...last].length >= shortestBeginning && last.length <= longestWord
}
