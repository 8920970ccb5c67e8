import { Problem } from '../http/problem.ts'
import { lineAt } from '../schemas/line-feeds.ts'
import { shorten } from '../schemas/shorten.ts'
import { illegalCharacter } from '../schemas/xml-characters.ts'
import { invalidReference } from './references.ts'
import type { Limits, Tag } from './tag.ts'
import { attribute, endTag, explainTagSyntax, match, name, tagEnd, target } from './tag-syntax.ts'

/**
 * Reads the tags of a document and stops at the first syntax error. It runs before libxml2 for two reasons: libxml2 spends
 * time on every error (20 seconds for 700,000 stray `&`) although only the last is reported, and the messages here are
 * plainer. Some errors remain for libxml2 to find, such as those in namespaces.
 * @throws Problem `malformed-document`, or `forbidden-xml` for a DOCTYPE or an exceeded limit, with the line
 */
export function scan(xml: string, limits: Limits): readonly Tag[] {
  return new Scanner(xml, limits).tags()
}

type Open = { -readonly [K in keyof Tag]: Tag[K] } & {
  counts: Map<string, number>
  /** Namespace declarations in scope. */
  readonly declarations: number
}

const noCounts: Map<string, number> = new Map()

const greaterThan = 0x3e

class Scanner {
  readonly #xml: string
  readonly #limits: Limits
  readonly #tags: Tag[] = []
  readonly #open: Open[] = []
  #marks = 0
  #prefixes = 0
  /** Namespace declarations of the current tag. */
  #declared = 0
  #line = 1
  #newline: number

  constructor(xml: string, limits: Limits) {
    this.#xml = xml
    this.#limits = limits
    this.#newline = xml.indexOf('\n')
  }

  tags(): readonly Tag[] {
    const xml = this.#xml
    const illegal = illegalCharacter(xml)
    if (illegal) throw this.#malformed(illegal.index, `The character ${illegal.name} is not allowed in XML.`)
    for (let at = xml.charCodeAt(0) === 0xfeff ? 1 : 0; at < xml.length; ) {
      const next = xml.indexOf('<', at)
      const end = next < 0 ? xml.length : next
      if (end > at) this.#text(at, end)
      at = next < 0 ? end : this.#markup(next)
    }
    const open = this.#open.at(-1)
    if (open)
      throw this.#malformed(xml.length, `The document ends, but <${shorten(open.name)}>, opened at line ${open.line}, is not closed.`)
    if (this.#tags.length === 0) throw this.#malformed(xml.length, 'There is no root element.')
    return this.#tags
  }

  #malformed(offset: number, detail: string): Problem {
    const line = lineAt(this.#xml, offset)
    return new Problem('malformed-document', `The XML is not well-formed at line ${line}: ${detail}`, { faults: [{ detail, line }] })
  }

  #forbidden(offset: number, detail: string): Problem {
    return new Problem('forbidden-xml', detail, { faults: [{ detail, line: lineAt(this.#xml, offset) }] })
  }

  #countMark(offset: number): void {
    const { marks } = this.#limits
    if (++this.#marks > marks) {
      throw this.#forbidden(offset, `The document has more than ${marks} elements, attributes and comments. Send it in parts.`)
    }
  }

  #countPrefix(offset: number): void {
    const { prefixes } = this.#limits
    if (++this.#prefixes > prefixes) {
      throw this.#forbidden(offset, `The document has more than ${prefixes} names with a namespace prefix. Leave the prefixes out.`)
    }
  }

  #text(from: number, to: number): void {
    if (to - from > this.#limits.text && !this.#mayBeLong())
      throw this.#forbidden(from, `A text is longer than ${this.#limits.text} characters.`)
    const text = this.#xml.slice(from, to)
    if (this.#open.length === 0) {
      const stray = text.search(/[^ \t\r\n]/)
      if (stray < 0) return
      throw this.#malformed(from + stray, `There is text ${this.#tags.length === 0 ? 'before' : 'after'} the root element.`)
    }
    const end = text.indexOf(']]>')
    if (end >= 0) throw this.#malformed(from + end, '"]]>" is not allowed in text. Write ]]&gt; instead.')
    this.#references(text, from)
  }

  #mayBeLong(): boolean {
    const name = this.#open.at(-1)?.name ?? ''
    return this.#limits.longTexts?.has(name.slice(name.indexOf(':') + 1)) ?? false
  }

  #references(text: string, from: number): void {
    const invalid = invalidReference(text)
    if (invalid) throw this.#malformed(from + invalid.index, invalid.detail)
  }

  /** Reads the markup that starts with `<`. @returns the offset after it */
  #markup(from: number): number {
    const xml = this.#xml
    if (xml[from + 1] === '/') return this.#endTag(from)
    if (xml[from + 1] === '?') return this.#instruction(from)
    if (xml[from + 1] !== '!') return this.#startTag(from)
    if (xml.startsWith('<!--', from)) return this.#comment(from)
    if (xml.startsWith('<![CDATA[', from) && this.#open.length > 0) return this.#section(from, 9, ']]>', 'The CDATA section')
    throw this.#forbidden(
      from,
      'The document has a DOCTYPE or another declaration, which is not accepted. Send it without one, and without custom entities.'
    )
  }

  #section(from: number, opening: number, closing: string, what: string): number {
    const end = this.#xml.indexOf(closing, from + opening)
    const { text } = this.#limits
    if ((end < 0 ? this.#xml.length : end) - from > text && !this.#mayBeLong())
      throw this.#forbidden(from, `${what} is longer than ${text} characters.`)
    if (end < 0) throw this.#malformed(from, `${what} that starts here is not closed by ${closing}.`)
    this.#countMark(from)
    return end + closing.length
  }

  #comment(from: number): number {
    const end = this.#section(from, 4, '-->', 'The comment')
    const dashes = this.#xml.indexOf('--', from + 4)
    if (dashes < end - 3) throw this.#malformed(dashes, 'A comment must not contain --.')
    return end
  }

  #instruction(from: number): number {
    const xml = this.#xml
    const end = this.#section(from, 2, '?>', 'The processing instruction')
    const own = match(target, xml, from + 2)?.[0]
    if (own === undefined)
      throw this.#malformed(from, 'A processing instruction must start with a name without a colon, such as <?name …?>.')
    if (own.toLowerCase() === 'xml' && xml.slice(0, from).replace('\ufeff', '') !== '') {
      throw this.#malformed(from, 'The XML declaration must be the very first thing in the document, and there can be only one.')
    }
    return end
  }

  #attributes(element: string, from: number, at: number): number {
    const names = new Set<string>()
    for (let found = match(attribute, this.#xml, at); found; found = match(attribute, this.#xml, at)) {
      const [whole, own = '', value = ''] = found
      this.#countMark(at)
      at += whole.length
      if (at - from > this.#limits.tag) throw this.#longTag(from)
      if (names.has(own)) throw this.#malformed(from, `<${shorten(element)}> has the attribute "${shorten(own)}" twice.`)
      names.add(own)
      if (own.includes(':')) this.#countPrefix(from)
      if (own.startsWith('xmlns')) this.#declared++
      this.#references(value, at - value.length)
    }
    return at
  }

  #longTag(from: number): Problem {
    const detail = `A tag is longer than ${this.#limits.tag} characters. It has too many attributes, or a quote is not closed.`
    return this.#forbidden(from, detail)
  }

  #startTag(from: number): number {
    const xml = this.#xml
    const own = match(name, xml, from + 1)?.[0]
    if (own === undefined) throw this.#malformed(from, 'A < that starts no tag must be written as &lt;.')
    if (this.#open.length === 0 && this.#tags.length > 0) throw this.#malformed(from, `There is a second root element, <${shorten(own)}>.`)
    const { depth, tag } = this.#limits
    if (this.#open.length >= depth) throw this.#forbidden(from, `Elements are nested more than ${depth} deep.`)
    this.#countMark(from)
    if (own.includes(':')) this.#countPrefix(from)
    this.#declared = 0
    const named = from + 1 + own.length
    // Most tags have no attributes, and looking for them takes as long as the rest.
    const end = xml.charCodeAt(named) === greaterThan ? named : this.#attributes(own, from, named)
    const closing = match(tagEnd, xml, end)
    const after = closing ? end + closing[0].length : Math.min(xml.length, from + tag + 1)
    if (after - from > tag && (closing || xml.slice(end, after).search(/[<>]/) !== 0)) throw this.#longTag(from)
    if (!closing) throw this.#malformed(from, explainTagSyntax(shorten(own), xml.slice(end, after)))
    this.#push(own, from, after, closing[1] === '/')
    return after
  }

  #push(own: string, start: number, after: number, isEmpty: boolean): void {
    for (; this.#newline >= 0 && this.#newline < start; this.#newline = this.#xml.indexOf('\n', this.#newline + 1)) this.#line++
    const parent = this.#open.at(-1)
    if (parent?.counts === noCounts) parent.counts = new Map()
    const nth = (parent?.counts.get(own) ?? 0) + 1
    parent?.counts.set(own, nth)
    const end = isEmpty ? after - 2 : after - 1
    const declarations = (parent?.declarations ?? 0) + this.#declared
    if (declarations > this.#limits.declarations) {
      throw this.#forbidden(start, `More than ${this.#limits.declarations} namespace declarations apply to <${shorten(own)}>.`)
    }
    const tag: Open = { name: own, parent, nth, line: this.#line, start, end, after, marks: this.#marks, counts: noCounts, declarations }
    this.#tags.push(tag)
    if (!isEmpty) this.#open.push(tag)
  }

  #endTag(from: number): number {
    const open = this.#open.at(-1)
    // Nearly every end tag is the one that is expected, without white space.
    if (open && this.#xml.startsWith(open.name, from + 2) && this.#xml.charCodeAt(from + 2 + open.name.length) === greaterThan) {
      this.#open.pop()
      open.after = from + 3 + open.name.length
      return open.after
    }
    const found = match(endTag, this.#xml, from)
    if (!found) throw this.#malformed(from, 'The end tag that starts here is not closed by >.')
    const [whole, own = ''] = found
    const tag = this.#open.pop()
    if (!tag) throw this.#malformed(from, `</${shorten(own)}> closes nothing.`)
    if (tag.name !== own) {
      throw this.#malformed(from, `</${shorten(own)}> cannot close <${shorten(tag.name)}>, which was opened at line ${tag.line}.`)
    }
    tag.after = from + whole.length
    return tag.after
  }
}
