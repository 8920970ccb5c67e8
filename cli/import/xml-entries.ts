import { Failure } from '../command.ts'
import { type Entry, longestEntry, unreadable } from './entry.ts'

/** One piece of markup; where it is malformed, its `<` alone. Quoted values hold no `<` (XML 1.0 section 3.1), so an open quote ends at the next tag. */
const markup = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>|<(?:[^"'<>]|"[^"<]*"|'[^'<]*')*>|</g

/** How far a comment, CDATA section or tag may be from its end, in characters; then its beginning is no markup. */
const longestMarkup = 64 * 1024

/**
 * Cuts a stream of XML into the products of its `catalogue`, each exactly as written. It only looks for where they begin
 * and end, so that one that is malformed harms no other; what is in them is the gate's to judge.
 * @param checkProlog judges everything up to and with the root's start tag, before any product
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
  #state: 'prolog' | 'catalogue' | 'product' | 'behind' = 'prolog'
  /** What is not done with: from the beginning of the product, or of the prolog, that is being read. */
  #text = ''
  #scanned = 0
  /** How far lines are counted, and the line there. */
  #counted = 0
  #line = 1
  #start = 0
  #startLine = 1
  /** Whether what cannot stand between two products was told. */
  #told = false
  #found: Entry[] = []

  constructor(checkProlog: (prolog: string) => void) {
    this.#checkProlog = checkProlog
  }

  write(chunk: string): readonly Entry[] {
    this.#text += chunk
    this.#scan(false)
    if (this.#state === 'product' && this.#text.length - this.#start > longestEntry)
      this.#abandon(`A product is longer than ${longestEntry} characters.`)
    if (this.#state === 'prolog' && this.#text.length > longestEntry) throw new Failure('there is no <catalogue> at its beginning')
    this.#forget(this.#state === 'product' ? this.#start : this.#state === 'prolog' ? 0 : this.#scanned)
    return this.#take()
  }

  end(): readonly Entry[] {
    this.#scan(true)
    if (this.#state === 'prolog') throw new Failure('there is no <catalogue> in it')
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
      // A lone `<` may be the beginning of markup that is still to come.
      if (found[0] === '<' && !isLast && this.#mayGoOn(at)) return
      this.#scanned = at + found[0].length
      this.#meet(found[0], at)
    }
  }

  #checkBlank(end: number): void {
    const text = this.#text.slice(this.#scanned, end)
    if (/\S/.test(text)) this.#between(this.#scanned + text.search(/\S/))
  }

  #mayGoOn(at: number): boolean {
    if (this.#text.length - at > longestMarkup) return false
    return /^<(?:[!?]|$)/.test(this.#text.slice(at, at + 2)) || !this.#text.includes('<', at + 1)
  }

  #meet(tag: string, at: number): void {
    if (tag.startsWith('<!--') || tag.startsWith('<?') || (tag.startsWith('<![CDATA[') && this.#state === 'product')) return
    const name = /^<(\/?[^\s/>]*)/.exec(tag)?.[1] ?? ''
    if (this.#state === 'prolog') this.#open(tag, name, at)
    else if (this.#state === 'behind') this.#between(at)
    else if (name === 'product') this.#begin(tag, at)
    else if (name === '/catalogue') this.#close()
    else if (this.#state === 'product') this.#within(name)
    else if (tag === '<') this.#stray(at, 'There is a < that starts no tag, or a tag that is malformed.', false)
    else this.#between(at)
  }

  #within(name: string): void {
    if (name === '/product') this.#finish()
  }

  #close(): void {
    if (this.#state === 'product') this.#abandon('The product is not closed.')
    this.#state = 'behind'
    this.#told = false
  }

  #open(tag: string, name: string, at: number): void {
    const line = this.#lineAt(at)
    if (this.#text.startsWith('<!', at)) throw new Failure(`line ${line}: the document has a DOCTYPE, which is not accepted`)
    if (name !== 'catalogue') throw new Failure(`line ${line}: the root element must be <catalogue>, not ${tag.slice(0, 80)}`)
    const isEmpty = tag.endsWith('/>')
    this.#checkProlog(`${this.#text.slice(0, this.#scanned)}${isEmpty ? '' : '</catalogue>'}`)
    this.#state = isEmpty ? 'behind' : 'catalogue'
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
    this.#told = false
  }

  /** What cannot stand where it is found, outside of products; told once until the next product. */
  #between(at: number): void {
    if (this.#state === 'catalogue') this.#stray(at, 'Something other than <product> cannot stand here.', false)
    if (this.#state === 'behind') this.#stray(at, 'Nothing more belongs behind </catalogue>.', false)
  }

  #stray(at: number, detail: string, always: boolean): void {
    if (!this.#told || always) this.#found.push(unreadable(this.#lineAt(at), detail))
    this.#told = true
  }

  #abandon(detail: string): void {
    this.#found.push(unreadable(this.#startLine, detail))
    this.#state = 'catalogue'
    this.#told = true
  }

  /** @param offset never before one that was asked for earlier */
  #lineAt(offset: number): number {
    for (let at = this.#text.indexOf('\n', this.#counted); at >= 0 && at < offset; at = this.#text.indexOf('\n', at + 1)) {
      this.#counted = at + 1
      this.#line++
    }
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
