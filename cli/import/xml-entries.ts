import { countLineFeeds } from '../../schemas/line-feeds.ts'
import { Failure } from '../command.ts'
import { type Entry, maxEntryLength, unreadable } from './entry.ts'

/**
 * One piece of markup, or only its `<` if it is malformed or not complete yet. Attribute values have no `<` (XML 1.0 section 3.1), so an
 * open quote ends at the next tag. A comment whose end is in the next chunk is no tag up to its first `>`.
 */
const markup = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<(?!!--|!\[CDATA\[|\?)(?:[^"'<>]|"[^"<]*"|'[^'<]*')*>|</g

/** The most characters of a comment, CDATA section or tag. Beyond that its start does not count as markup. */
const maxMarkupLength = 64 * 1024

/**
 * Splits a stream of XML into the products of its `catalogue`, each exactly as written. It only finds where they start and
 * end, so that a malformed product does not affect the others. The products are validated later.
 * @param checkProlog validates everything before the first product, including the start tag of the root element
 */
export async function* xmlEntries(
  chunks: AsyncIterable<string>,
  checkProlog: (prolog: string) => void
): AsyncGenerator<readonly Entry[], void, undefined> {
  const splitter = new Splitter(checkProlog)
  for await (const chunk of chunks) yield splitter.write(chunk)
  yield splitter.end()
}

class Splitter {
  readonly #checkProlog: (prolog: string) => void
  #state: 'prolog' | 'catalogue' | 'product' | 'epilog' = 'prolog'
  /** The text that is not processed yet, from the start of the current product or of the prolog. */
  #text = ''
  #scanned = 0
  /** Lines are counted up to this offset. `#line` is the line there. */
  #counted = 0
  #line = 1
  #start = 0
  #startLine = 1
  /** Whether misplaced content between two products was reported. */
  #isReported = false
  #found: Entry[] = []

  constructor(checkProlog: (prolog: string) => void) {
    this.#checkProlog = checkProlog
  }

  write(chunk: string): readonly Entry[] {
    this.#text += chunk
    this.#scan(false)
    if (this.#state === 'product' && this.#text.length - this.#start > maxEntryLength)
      this.#abandon(`A product is longer than ${maxEntryLength} characters.`)
    if (this.#state === 'prolog' && this.#text.length > maxEntryLength) throw new Failure('the document does not start with <catalogue>')
    this.#forget(this.#state === 'product' ? this.#start : this.#state === 'prolog' ? 0 : this.#scanned)
    return this.#take()
  }

  end(): readonly Entry[] {
    this.#scan(true)
    if (this.#state === 'prolog') throw new Failure('the document has no <catalogue>')
    if (this.#state === 'product') this.#abandon('The document ends within a product.')
    if (this.#state === 'catalogue')
      this.#stray(this.#text.length, 'The document ends, but <catalogue> is not closed: it may be cut off.', true)
    return this.#take()
  }

  #take(): readonly Entry[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #scan(isLast: boolean): void {
    for (;;) {
      markup.lastIndex = this.#scanned
      const found = markup.exec(this.#text)
      const at = found?.index ?? this.#text.length
      if (this.#state !== 'product') this.#checkBlank(at)
      this.#scanned = at
      if (!found) return
      // A lone `<` may be the start of markup that continues in the next chunk.
      if (found[0] === '<' && !isLast && this.#mayContinue(at)) return
      this.#scanned = at + found[0].length
      this.#meet(found[0], at)
    }
  }

  #checkBlank(end: number): void {
    const text = this.#text.slice(this.#scanned, end)
    if (/\S/.test(text)) this.#misplaced(this.#scanned + text.search(/\S/))
  }

  #mayContinue(at: number): boolean {
    if (this.#text.length - at > maxMarkupLength) return false
    return /^<(?:[!?]|$)/.test(this.#text.slice(at, at + 2)) || !this.#text.includes('<', at + 1)
  }

  #meet(tag: string, at: number): void {
    if (tag.startsWith('<!--') || tag.startsWith('<?') || (tag.startsWith('<![CDATA[') && this.#state === 'product')) return
    const name = /^<(\/?[^\s/>]*)/.exec(tag)?.[1] ?? ''
    if (this.#state === 'prolog') this.#open(tag, name, at)
    else if (this.#state === 'epilog') this.#misplaced(at)
    else if (name === 'product') this.#begin(tag, at)
    else if (name === '/catalogue') this.#close()
    else if (this.#state === 'product') this.#within(name)
    else if (tag === '<') this.#stray(at, 'There is a < that starts no tag, or a tag that is malformed.', false)
    else this.#misplaced(at)
  }

  #within(name: string): void {
    if (name === '/product') this.#finish()
  }

  #close(): void {
    if (this.#state === 'product') this.#abandon('The product is not closed.')
    this.#state = 'epilog'
    this.#isReported = false
  }

  #open(tag: string, name: string, at: number): void {
    const line = this.#lineAt(at)
    if (this.#text.startsWith('<!', at)) throw new Failure(`line ${line}: the document has a DOCTYPE, which is not allowed: remove it`)
    if (name !== 'catalogue') throw new Failure(`line ${line}: the root element must be <catalogue>, not ${tag.slice(0, 80)}`)
    const isEmpty = tag.endsWith('/>')
    this.#checkProlog(`${this.#text.slice(0, this.#scanned)}${isEmpty ? '' : '</catalogue>'}`)
    this.#state = isEmpty ? 'epilog' : 'catalogue'
  }

  #begin(tag: string, at: number): void {
    if (this.#state === 'product') this.#abandon('The product is not closed.')
    this.#start = at
    this.#startLine = this.#lineAt(at)
    this.#state = 'product'
    if (tag.endsWith('/>')) this.#finish()
  }

  #finish(): void {
    this.#found.push({ line: this.#startLine, xml: this.#text.slice(this.#start, this.#scanned), faults: [] })
    this.#state = 'catalogue'
    this.#isReported = false
  }

  /** Reports misplaced content outside of products, once until the next product. */
  #misplaced(at: number): void {
    if (this.#state === 'catalogue') this.#stray(at, 'Only <product> elements may be here.', false)
    if (this.#state === 'epilog') this.#stray(at, 'There must be nothing after </catalogue>.', false)
  }

  #stray(at: number, detail: string, isAlwaysReported: boolean): void {
    if (!this.#isReported || isAlwaysReported) this.#found.push(unreadable(this.#lineAt(at), detail))
    this.#isReported = true
  }

  #abandon(detail: string): void {
    this.#found.push(unreadable(this.#startLine, detail))
    this.#state = 'catalogue'
    this.#isReported = true
  }

  /** @param offset never smaller than in an earlier call */
  #lineAt(offset: number): number {
    this.#line += countLineFeeds(this.#text, this.#counted, offset)
    this.#counted = offset
    return this.#line
  }

  #forget(offset: number): void {
    this.#lineAt(offset)
    this.#text = this.#text.slice(offset)
    this.#scanned -= offset
    this.#counted -= offset
    this.#start = 0
  }
}
