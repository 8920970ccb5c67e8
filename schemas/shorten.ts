/** How much of a name or value that was sent comes back in a message, in characters. */
const quoted = 80

/** The start of a text that is too long to be told whole. It never ends in half a character. */
export function shorten(text: string, most = quoted): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 3).replace(/[\ud800-\udbff]$/, '')}…`
}
