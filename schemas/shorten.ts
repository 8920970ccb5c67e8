/** Characters of a sent name or value that a message quotes. */
const maxQuoted = 80

/** Cuts a long text to `maxLength` characters, of which the last is an ellipsis. It never cuts a surrogate pair in half. */
export function shorten(text: string, maxLength = maxQuoted): string {
  if (text.length <= maxLength) return text
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
