import { cardNumbers, maskMarkup, namesSecrets } from '../hidden-secrets.ts'
import { makeNeedle, mask, maxSecretValues, merge, minLengthInValues, type Needle, type Occurrence } from '../occurrences.ts'
import { cardName, cxmlSecretNames } from '../secret-names.ts'
import { contentRange, type XmlElement } from '../xml-element.ts'

/** The names in lower case. */
const secretElements: ReadonlySet<string> = new Set(cxmlSecretNames.map((name) => name.toLowerCase()))
const cardElement = cardName.toLowerCase()

/** A shorter value is no secret: it would be found in most words. */
const minLengthInProse = 4

export interface Secrets {
  /** Sorted, without overlaps. */
  readonly ranges: readonly Occurrence[]
  /** The document has more than `maxSecretValues`. The rest of them is masked only in its own place. */
  readonly isOverLimit: boolean
  /** Masks secrets in a value of the order, such as an id or a name. */
  maskValue(text: string): string
  /** Masks secrets in a note, an extension or a quotation, short secrets too. */
  maskProse(text: string): string
}

/** Finds the secrets of a document, and where else it repeats them. */
export function findSecrets(root: XmlElement, source: string): Secrets {
  const ranges: Occurrence[] = []
  const values = new Set<string>()
  const collect = (element: XmlElement) => {
    const name = element.local.toLowerCase()
    if (secretElements.has(name)) {
      ranges.push(contentRange(element, source))
      values.add(allText(element).trim())
      return
    }
    if (name === cardElement) {
      const { start, name: written, end } = element.tag
      for (const range of cardNumbers(source, start + 1 + written.length, end)) {
        ranges.push(range)
        values.add(source.slice(range.from, range.to).trim())
      }
      values.add(element.attributes['number']?.trim() ?? '')
    }
    for (const child of element.children) collect(child)
  }
  collect(root)
  const needles = makeNeedles(values)
  // Nearly no document quotes markup in a text.
  const maskQuoted = namesSecrets(source) ? maskMarkup : (text: string) => text
  const inValues = needles.filter(({ length }) => length >= minLengthInValues)
  const repeated = inValues.flatMap((needle) => needle.find(source)).filter(({ from }) => !isNameOfTag(source, from))
  return {
    ranges: merge([...ranges, ...repeated].filter(({ from, to }) => to > from)),
    isOverLimit: [...values].filter((value) => value.length >= minLengthInProse).length > maxSecretValues,
    maskValue: (text) => maskQuoted(mask(text, inValues)),
    maskProse: (text) => maskQuoted(mask(text, needles))
  }
}

const secretStart = new RegExp(`<(?:[\\w.-]+:)?(?:${[...cxmlSecretNames, cardName].join('|')})\\b`, 'gi')

/** Characters after the start of a secret that are compared. */
const maxCompared = 8 * 1024

/** The most places of secrets that are compared. */
const maxStarts = 100

/** Whether a message about malformed XML quotes a part of a secret. The cause can be an unescaped & or < in the secret. */
export function quotesSecret(source: string, message: string): boolean {
  return [...source.matchAll(secretStart)].slice(0, maxStarts).some(({ index, 0: { length } }) => {
    const from = index + length
    const end = source.indexOf('</', from)
    const text = source.slice(from, Math.min(end < 0 ? source.length : end, from + maxCompared))
    return text.split(/[^\p{L}\p{N}]+/u).some((word) => word.length >= minLengthInProse && message.includes(word))
  })
}

function makeNeedles(values: ReadonlySet<string>): readonly Needle[] {
  const searched = [...values].filter((value) => value.length >= minLengthInProse)
  return searched.slice(0, maxSecretValues).map(makeNeedle)
}

/** Examples have the secret "SharedSecret". The names of tags are not masked, so that the original stays XML. */
function isNameOfTag(source: string, at: number): boolean {
  return source.startsWith('<', at - 1) || source.startsWith('</', at - 2)
}

function allText({ text, children }: XmlElement): string {
  return children.reduce((whole, child) => whole + allText(child), text)
}
