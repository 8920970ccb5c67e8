import t from 'tap'
import { contentRange, readElements, wholeText } from '../../dialects/xml-element.ts'
import { guard } from '../../xml/guard.ts'

t.test('the white space around many children is looked through once, not for each of them', async (t) => {
  const blank = ' '.repeat(60_000)
  const xml = `<a>${blank}${'<c/>'.repeat(2_000)}${blank}</a>`
  const guarded = guard(Buffer.from(xml))
  let looked = 0
  const trim = Object.getOwnPropertyDescriptor(String.prototype, 'trim')?.value as () => string
  t.intercept(String.prototype, 'trim', {
    value(this: string) {
      looked += this.length
      return trim.call(this)
    }
  })
  const { children } = readElements(guarded)
  t.equal(children.length, 2_000)
  t.ok(looked <= 2 * xml.length, `${looked} characters of ${xml.length}`)
})

t.test('text between children is part of the whole text, wherever it stands', async (t) => {
  for (const [xml, text] of [
    ['<a> one <b>two</b> three</a>', 'one two three'],
    ['<a>\n <b>one</b> two</a>', 'onetwo'],
    ['<a> <b>one</b> </a>', undefined]
  ] as const) {
    const root = readElements(guard(Buffer.from(xml)))
    t.equal(wholeText(root)?.replace(/\s+/g, text?.includes(' ') ? ' ' : ''), text, xml.slice(contentRange(root, xml).from))
  }
})
