/** The number of line feeds in a text from one offset up to another. */
export function countLineFeeds(text: string, from = 0, to = text.length): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** The line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  return 1 + countLineFeeds(text, 0, offset)
}
