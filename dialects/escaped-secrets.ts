import type { Occurrence } from './occurrences.ts'
import { cardName } from './secret-names.ts'

/** A `<` that is escaped, once or more often. */
export const lessThan = '&(?:amp;)*(?:lt|#0*60|#x0*3c);'
const greaterThan = '&(?:amp;)*(?:gt|#0*62|#x0*3e);'

const quote = `["']|&(?:amp;)*(?:quot|apos|#0*3[49]|#x0*2[27]);`
const cardNumber = new RegExp(`(?<![\\w-])number\\s*=\\s*(?:${quote})(?<number>(?:(?!${quote})[^])*)`, 'dgi')

/**
 * Finds the content of secrets in escaped markup, such as `&lt;SharedSecret&gt;`, because a note can quote a document. If a secret has
 * no end tag, it ends with the text that it is in. So no markup of the document itself is masked.
 * @param names the names of the elements, as alternatives of a regular expression
 */
export function escapedSecrets(source: string, names: string): readonly Occurrence[] {
  const name = `(?:[\\w.-]+:)?(?:${names})(?![\\w.-])`
  const rest = `(?:(?!${lessThan}|${greaterThan})[^<>])*`
  const start = new RegExp(
    `${lessThan}(?:${name}(?<isEmpty>${rest})${greaterThan}|(?:[\\w.-]+:)?${cardName}(?![\\w.-])(?<card>${rest}))`,
    'gi'
  )
  const end = new RegExp(`${lessThan}/${name}`, 'i')
  const found: Occurrence[] = []
  let textEnd = 0
  let done = 0
  for (const { index, 0: tag, groups: { isEmpty, card } = {} } of source.matchAll(start)) {
    if (index < done) continue
    const from = index + tag.length
    if (card !== undefined) found.push(...escapedCardNumbers(card, from - card.length))
    if (isEmpty === undefined || isEmpty.endsWith('/')) continue
    if (textEnd < from) textEnd = source.indexOf('<', from) < 0 ? source.length : source.indexOf('<', from)
    const length = source.slice(from, textEnd).search(end)
    done = length < 0 ? textEnd : from + length
    found.push({ from, to: done })
  }
  return found
}

function escapedCardNumbers(attributes: string, at: number): readonly Occurrence[] {
  return Array.from(attributes.matchAll(cardNumber), ({ indices }) => {
    const [from, to] = indices?.groups?.['number'] ?? [0, 0]
    return { from: at + from, to: at + to }
  })
}
