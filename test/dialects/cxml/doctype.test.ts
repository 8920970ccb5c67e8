import t from 'tap'
import { blankDoctype, startsAsCxml } from '../../../dialects/cxml/doctype.ts'
import { readElements } from '../../../dialects/xml-element.ts'
import { guard } from '../../../xml/guard.ts'
import { processorTime } from '../../growth.ts'
import { doctype } from './documents.ts'

const blank = (xml: string) => blankDoctype(Buffer.from(xml))
const root = '<cXML payloadID="1"/>'

t.test('the DOCTYPE of a cXML document becomes spaces, and nothing else changes', async (t) => {
  for (const [before, sent, after] of [
    ['', doctype, root],
    ['\ufeff<?xml version="1.0"?>\r\n<!-- é -->', doctype, `\n<?x y?><!-- -->${root}`],
    ['', '<!DOCTYPE\tcXML\r\nSYSTEM\n\'http://xml.cXML.org/"Custom".dtd\' >', root],
    ['', `<!DOCTYPE cXML SYSTEM "${'d'.repeat(256)}">`, '<cXML\n/>'],
    ['', '<!DOCTYPE cXML SYSTEM "it\'s [here] % #">', '<cXML></cXML>']
  ] as const) {
    const bytes = Buffer.from(`${before}${sent}${after}`)
    const copy = Buffer.from(bytes)
    const blanked = blankDoctype(bytes)
    t.equal(blanked.doctype, sent)
    t.equal(blanked.bytes.toString(), `${before}${sent.replace(/[^\r\n]/g, ' ')}${after}`)
    t.ok(bytes.equals(copy), 'the bytes that were sent stay')
    t.equal(readElements(guard(blanked.bytes)).name, 'cXML')
  }
})

const literal = (text: string) => `<!DOCTYPE cXML SYSTEM "${text}">`

t.test('any other DOCTYPE stays, so that the guard refuses it', async (t) => {
  for (const [title, xml] of [
    ['two', `${doctype}${doctype}${root}`],
    ['two, with a comment between', `${doctype}<!-- -->${doctype}${root}`],
    ['an internal subset', `<!DOCTYPE cXML SYSTEM "c.dtd" [<!ENTITY a "b">]>${root}`],
    ['an empty internal subset', `<!DOCTYPE cXML SYSTEM "c.dtd" []>${root}`],
    ['only an internal subset', `<!DOCTYPE cXML [<!ENTITY a SYSTEM "file:///etc/passwd">]>${root}`],
    ['PUBLIC', `<!DOCTYPE cXML PUBLIC "-//x" "c.dtd">${root}`],
    ['no external identifier', `<!DOCTYPE cXML>${root}`],
    ['a second literal', `<!DOCTYPE cXML SYSTEM "a" "b">${root}`],
    ['an empty literal', literal('') + root],
    ['257 characters', literal('d'.repeat(257)) + root],
    ['10 KB of literal', literal('d'.repeat(10_240)) + root],
    ['< in the literal', literal('a<b') + root],
    ['> in the literal', literal('a>b') + root],
    ['an entity in the literal', literal('&a;') + root],
    ['a line end in the literal', literal('a\nb') + root],
    ['a letter beyond ASCII in the literal', literal('é') + root],
    ['no closing quote', `<!DOCTYPE cXML SYSTEM "a>${root}`],
    ['mixed quotes', `<!DOCTYPE cXML SYSTEM "a'>${root}`],
    ['another root', `<!DOCTYPE Order SYSTEM "a"><Order/>`],
    ['before another root', `${doctype}<Order/>`],
    ['before a root whose name goes on', `${doctype}<cXML.x/>`],
    ['before a prefixed root', `${doctype}<cXML:a xmlns:cXML="b"/>`],
    ['before text', `${doctype}text${root}`],
    ['before no root', doctype],
    ['after the root', `${root}${doctype}`],
    ['in the root', `<cXML>${doctype}</cXML>`],
    ['lower case', `<!doctype cXML SYSTEM "a">${root}`],
    ['lower case system', `<!DOCTYPE cXML system "a">${root}`],
    ['the name in lower case', `<!DOCTYPE cxml SYSTEM "a">${root}`],
    ['no white space after DOCTYPE', `<!DOCTYPEcXML SYSTEM "a">${root}`],
    ['no white space before SYSTEM', `<!DOCTYPE cXMLSYSTEM "a">${root}`],
    ['no white space before the literal', `<!DOCTYPE cXML SYSTEM"a">${root}`],
    ['white space after <!', `<! DOCTYPE cXML SYSTEM "a">${root}`],
    ['a space that XML does not know', `<!DOCTYPE\u00a0cXML SYSTEM "a">${root}`],
    ['a NUL', `<!DOCTYPE cXML\0SYSTEM "a">${root}`],
    ['a NUL before it', `\0${doctype}${root}`],
    ['text before it', `a${doctype}${root}`],
    ['an element declaration before it', `<!ELEMENT a ANY>${doctype}${root}`],
    ['a comment that does not end', `<!-- ${doctype}${root}`],
    ['a huge comment before it', `<!--${'a'.repeat(16 * 1024)}-->${doctype}${root}`],
    ['a huge comment after it', `${doctype}<!--${'a'.repeat(16 * 1024)}-->${root}`]
  ] as const) {
    const bytes = Buffer.from(xml)
    const result = blankDoctype(bytes)
    t.equal(result.bytes, bytes, title)
    t.equal(result.doctype, undefined, title)
    t.throws(() => guard(result.bytes), { code: /^(forbidden-xml|malformed-document)$/ }, title)
  }
})

t.test('a DOCTYPE in a comment or a processing instruction is none', async (t) => {
  for (const xml of [`<!--${doctype}-->${root}`, `<?x ${doctype}?>${root}`]) {
    t.equal(blank(xml).doctype, undefined)
    t.equal(guard(blank(xml).bytes).tags.length, 1)
  }
  t.equal(blank(`<!--${doctype}-->${doctype}${root}`).doctype, doctype)
})

t.test('a document that is not UTF-8 is left to the guard', async (t) => {
  const latin1 = Buffer.from(`<!-- é -->${doctype}${root}`, 'latin1')
  t.throws(() => guard(blankDoctype(latin1).bytes), { message: 'The document is not valid UTF-8.' })
  const utf16 = Buffer.from(`\ufeff${doctype}${root}`, 'utf16le')
  t.equal(blankDoctype(utf16).bytes, utf16)
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(100_000), Buffer.alloc(100_000, '<'), Buffer.from('<!DOCTYPE')]) {
    t.equal(blankDoctype(bytes).bytes, bytes)
  }
})

t.test('the time for a hostile prolog does not grow with it', async (t) => {
  for (const piece of [' ', '<!---->', '<?a?>', '<!', '<!"', '<!\'"', '<', '<!DOCTYPE ', doctype, '<!-', '"', '<![CDATA[']) {
    const look = (size: number) => {
      const bytes = Buffer.from(piece.repeat(Math.ceil(size / piece.length)))
      return processorTime(() => {
        for (let i = 0; i < 20; i++) {
          blankDoctype(bytes)
          startsAsCxml(bytes)
        }
      })
    }
    const [short, long] = [look(256 * 1024), look(2 * 1024 * 1024)]
    // Only the start of a document is looked at: eight times the bytes may cost no more than a copy of them.
    t.ok(long < 16 * short + 100, `${JSON.stringify(piece)}: ${long} ms and ${short} ms`)
  }
})

t.test('a document starts as cXML when its first start tag is <cXML', async (t) => {
  for (const xml of [
    root,
    '<cXML',
    '<cXML "',
    `\ufeff<?xml version="1.0"?>${doctype}${root}`,
    `<!DOCTYPE cXML [<!ENTITY a "<Order>"> <!-- <Order> --> <!ENTITY b '<Order>'>]>${root}`,
    `<!DOCTYPE cXML PUBLIC "a" "b">${doctype}${root}`,
    `text ${root}`,
    `< Order ></Order>${root}`,
    `<![CDATA[<Order>]]>${root}`
  ]) {
    t.equal(startsAsCxml(Buffer.from(xml)), true, xml)
  }
  t.equal(startsAsCxml(Buffer.from(`\ufeff${root}`, 'utf16le')), true, 'UTF-16')
  for (const xml of [
    '',
    '<Order/>',
    '<cXMLs/>',
    '<cxml/>',
    '<cXML:a/>',
    '<x:cXML/>',
    `<!-- ${root}`,
    `<!-- -->${doctype}<Order>${root}</Order>`,
    `<!DOCTYPE Order [<!ENTITY a "${root}">]><Order/>`,
    `<?x ${root}?><Order/>`,
    `<!--${'a'.repeat(16 * 1024)}-->${root}`
  ]) {
    t.equal(startsAsCxml(Buffer.from(xml)), false, xml.slice(0, 80))
  }
})
