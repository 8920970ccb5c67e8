import { attribute, closings, match } from '../xml/tag-syntax.ts'
import { escapedSecrets, lessThan } from './escaped-secrets.ts'
import { maskRanges, type Occurrence } from './occurrences.ts'
import { cardName, cxmlSecretNames, ublSecretNames } from './secret-names.ts'

const names = [...cxmlSecretNames, ...ublSecretNames].join('|')

/** The start of a tag that can hold a secret. Few documents have one, and this search is faster than reading their markup. */
const anyName = new RegExp(`(?:<|${lessThan})(?:[\\w.-]+:)?(?:${names}|${cardName})\\b`, 'i')

const tag = `</?(?<name>(?:[\\w.-]+:)?(?:${names}|(?<card>${cardName})))(?![\\w.-])(?:"[^"<]*"|'[^'<]*'|[^<>"'])*>`
const token = new RegExp(`<!--|<!\\[CDATA\\[|<\\?|-->|\\]\\]>|\\?>|${tag}`, 'gi')

/** A secret whose end has not been found yet. */
interface OpenSecret {
  readonly name: string
  readonly from: number
  /** The token that ends the part that the secret is in. Undefined: the secret is an element of the document. */
  readonly part: string | undefined
}

/** Whether a text names a secret as markup does, escaped or not. */
export function namesSecrets(source: string): boolean {
  return anyName.test(source)
}

/** Masks the secrets of markup that is the text of a value. */
export function maskMarkup(text: string): string {
  return maskRanges(text, hiddenSecrets(text))
}

/**
 * The content of secrets that no reader finds: those in comments, CDATA sections and processing instructions, in escaped markup,
 * and in elements of another vocabulary. It reads the document only once, because its sender decides how many there are.
 */
export function hiddenSecrets(source: string): readonly Occurrence[] {
  if (!namesSecrets(source)) return []
  const found: Occurrence[] = [...escapedSecrets(source, names)]
  let part: string | undefined
  let open: OpenSecret | undefined
  for (const { index, 0: text, groups: { name, card } = {} } of source.matchAll(token)) {
    const isEndTag = text.startsWith('</')
    if (open && open.part === part && (isEndTag ? name === open.name : text === part)) {
      found.push({ from: open.from, to: index })
      open = undefined
    }
    if (name === undefined) part = partAfter(part, text)
    else if (open || isEndTag) continue
    else if (card !== undefined) found.push(...cardNumbers(source, index + 1 + name.length, index + text.length))
    else if (!text.endsWith('/>')) open = { name, from: index + text.length, part }
  }
  // In a document every element ends. A text can have the beginning of one.
  if (open) found.push({ from: open.from, to: source.length })
  return found.filter(({ from, to }) => to > from)
}

/** The token that ends the part after this token. Undefined: markup follows. */
function partAfter(part: string | undefined, token: string): string | undefined {
  if (part === undefined) return closings[token]
  return token === part ? undefined : part
}

/**
 * The values of the attributes named `number`, whatever their prefix, between their quotes.
 * @param start the offset after the name of a tag
 * @param end the offset of the end of the tag
 */
export function cardNumbers(source: string, start: number, end: number): readonly Occurrence[] {
  const ranges: Occurrence[] = []
  let at = start
  for (let found = match(attribute, source, at); found && at < end; found = match(attribute, source, at)) {
    const [whole, name = '', value = ''] = found
    at += whole.length
    if (/^(?:[^:]*:)?number$/i.test(name)) ranges.push({ from: at - value.length + 1, to: at - 1 })
  }
  return ranges
}
