import fc from 'fast-check'
import type { Element } from '../../schemas/element.ts'

/** XML as it may be written, and what it means: written by hand from the recommendation, not by the code under test. */
export interface Written {
  readonly xml: string
  readonly means: string
}

const ranges: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0x80, 0xd7ff],
  [0xe000, 0xfffd],
  [0x10000, 0x10ffff]
]
const special = [
  '\t',
  '\n',
  '\r',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u00a0',
  '\ufeff',
  '\u200b',
  '&',
  '<',
  '>',
  '"',
  "'",
  ']]>',
  '--',
  '\u{1f600}',
  'é'
]

/** Any text that XML can hold, with more than its share of what is awkward. */
export const xmlText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...special),
      fc.oneof(...ranges.map(([min, max]) => fc.integer({ min, max }))).map((code) => String.fromCodePoint(code))
    ),
    { maxLength: 12 }
  )
  .map((pieces) => pieces.join(''))

const reference = fc
  .tuple(
    fc.constantFrom('x', ''),
    fc.oneof(fc.constantFrom(9, 10, 13, 0x26, 0x3c, 0x85, 0x2028), ...ranges.map(([min, max]) => fc.integer({ min, max })))
  )
  .map(([hex, code]): Written => ({ xml: hex ? `&#x${code.toString(16)};` : `&#${code};`, means: String.fromCodePoint(code) }))

const predefined = fc
  .constantFrom(['&amp;', '&'], ['&lt;', '<'], ['&gt;', '>'], ['&quot;', '"'], ['&apos;', "'"])
  .map(([xml = '', means = '']): Written => ({ xml, means }))

/** Line ends as a parser reads them (XML 1.0 section 2.11). */
const lineEnds = (text: string) => text.replace(/\r\n?/g, '\n')

const plain = xmlText.map((text): Written => {
  const xml = text.replace(/[&<>]/g, '')
  return { xml, means: lineEnds(xml) }
})
const section = xmlText.map((text): Written => {
  const content = text.replaceAll(']]>', '').replace(/\]+$/, '')
  return { xml: `<![CDATA[${content}]]>`, means: lineEnds(content) }
})
const comment = xmlText.map((text): Written => ({ xml: `<!--${text.replaceAll('-', '')}-->`, means: '' }))
const instruction = xmlText.map((text): Written => ({ xml: `<?pi ${text.replaceAll('?>', '')}?>`, means: '' }))

function joined(pieces: readonly Written[]): Written {
  // A carriage return at the end of one piece and a line feed at the start of the next are one line end: kept apart.
  const xml = pieces
    .map((piece) => piece.xml)
    .reduce((all, one) => (all.endsWith('\r') && one.startsWith('\n') ? `${all}<!---->${one}` : all + one), '')
  return { xml, means: pieces.map(({ means }) => means).join('') }
}

/** The content of an element that holds text. */
export const content: fc.Arbitrary<Written> = fc
  .array(fc.oneof({ weight: 3, arbitrary: plain }, reference, predefined, section, comment, instruction), { maxLength: 6 })
  .map(joined)

/** An attribute's value with its quotes: white space becomes a space, unless it came by reference (section 3.3.3). */
const attributeValue: fc.Arbitrary<Written> = fc
  .tuple(fc.constantFrom('"', "'"), fc.array(fc.oneof(plain, reference, predefined), { maxLength: 5 }))
  .map(([quote, pieces]): Written => {
    const own = pieces.map(
      ({ xml, means }): Written =>
        xml.startsWith('&')
          ? { xml, means }
          : { xml: xml.replaceAll(quote, ''), means: means.replaceAll(quote, '').replace(/[\t\n]/g, ' ') }
    )
    const xml = own.map((piece) => piece.xml).join('')
    // The same pair of characters as above is one line end here, and so one space.
    const means = xml.includes('\r\n') ? undefined : own.map((piece) => piece.means).join('')
    return means === undefined ? { xml: `${quote}${quote}`, means: '' } : { xml: `${quote}${xml}${quote}`, means }
  })

const names = fc.constantFrom('a', 'item', 'product-id', '_x', 'été', 'a.b-c_1', 'length', 'value')
const space = fc.constantFrom(' ', '\t', '\n', '\r\n', ' \n ')

export interface WrittenElement {
  readonly xml: string
  readonly element: Element
}

/** A whole document with what it means. */
export const document: fc.Arbitrary<WrittenElement> = fc.letrec<{ element: WrittenElement }>((tie) => ({
  element: fc
    .tuple(
      names,
      fc.uniqueArray(fc.tuple(names, attributeValue, space), { selector: ([name]) => name, maxLength: 3 }),
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        content,
        fc.array(fc.tuple(tie('element'), space), { minLength: 1, maxLength: 3 })
      ),
      space
    )
    .map(([name, attributes, inside, gap]): WrittenElement => {
      const open = `<${name}${attributes.map(([own, value, before]) => `${before}${own}${gap.trim()}=${value.xml}`).join('')}${attributes.length > 0 ? gap : ''}`
      const own = attributes.length > 0 ? { attributes: Object.fromEntries(attributes.map(([key, value]) => [key, value.means])) } : {}
      if (!Array.isArray(inside)) {
        const { xml, means } = inside as Written
        return { xml: xml === '' ? `${open}/>` : `${open}>${xml}</${name}${gap}>`, element: { name, ...own, text: means } }
      }
      const children = inside as readonly (readonly [WrittenElement, string])[]
      return {
        xml: `${open}>${children.map(([child, after]) => child.xml + after).join('')}</${name}>`,
        element: { name, ...own, children: children.map(([child]) => child.element) }
      }
    })
})).element

/** A change to a text: where, how many characters go, and what comes instead. */
export type Mutation = readonly [where: number, length: number, inserted: string]

const fragments = [
  '',
  '<',
  '>',
  '&',
  '"',
  "'",
  '/',
  '=',
  '-',
  '--',
  ']]>',
  '?',
  ' ',
  '\n',
  'a',
  '<a>',
  '</a>',
  '<!--',
  '<?',
  '&#9;',
  '\ufffe',
  '1',
  ':'
]

export const mutation: fc.Arbitrary<Mutation> = fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom(...fragments))

export function mutate(text: string, [where, length, inserted]: Mutation): string {
  const at = where % (text.length + 1)
  return text.slice(0, at) + inserted + text.slice(at + length)
}
