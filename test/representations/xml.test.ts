import t from 'tap'
import { readXml, writeXml } from '../../schemas/xml.ts'

t.test('XML is written with a declaration, indented, a line for each element', async (t) => {
  const written = writeXml({
    name: 'a',
    attributes: { b: '1' },
    children: [{ name: 'c', text: 'x' }, { name: 'd' }, { name: 'e', text: '' }]
  })
  t.equal(written, '<?xml version="1.0" encoding="UTF-8"?>\n<a b="1">\n  <c>x</c>\n  <d/>\n  <e/>\n</a>\n')
})

t.test('children that are written already come first, also if there are no others', async (t) => {
  const start = '<?xml version="1.0" encoding="UTF-8"?>\n<a>\n  <c/>\n'
  t.equal(writeXml({ name: 'a', children: [{ name: 'd' }] }, '  <c/>\n'), `${start}  <d/>\n</a>\n`)
  t.equal(writeXml({ name: 'a', children: [] }, '  <c/>\n'), `${start}</a>\n`)
  t.equal(writeXml({ name: 'a' }, '  <c/>\n'), `${start}</a>\n`)
})

t.test('characters that would be markup, or would not survive a parser, are written as references', async (t) => {
  t.match(writeXml({ name: 'a', text: '<&>]]>"\'\r\n\t' }), `<a>&lt;&amp;&gt;]]&gt;"'&#13;\n\t</a>`)
  t.match(writeXml({ name: 'a', attributes: { b: '<&>"\'\r\n\t' } }), `<a b="&lt;&amp;&gt;&quot;'&#13;&#10;&#9;"/>`)
})

t.test('values are read as they are written: no number, no trimming, no entity of HTML', async (t) => {
  for (const text of ['007', '1e3', '10.10', ' 1 ', 'true', 'null', '0x10', '', '\n', '&amp;']) {
    const written = writeXml({ name: 'a', attributes: { b: text }, text })
    t.same(readXml(written), { name: 'a', attributes: { b: text }, text }, JSON.stringify(text))
  }
})

t.test('namespace declarations, comments and instructions are no part of what is read', async (t) => {
  const read = readXml('\ufeff<?xml version="1.0"?><!-- a --><a xmlns="" xmlns:b="urn:b" c="d"><?e f?>g<!-- h -->i</a><!-- j -->')
  t.same(read, { name: 'a', attributes: { c: 'd' }, text: 'gi' })
})
