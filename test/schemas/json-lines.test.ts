import t from 'tap'
import { linesAt } from '../../schemas/json-lines.ts'
import { readJsonText } from '../../schemas/json-text.ts'

const text = `
{ "item": [
    { "productId":
        "A",
      "quantity": {
        "value": 1, "unit": "C62" } },
    [ [],
      null ]
  ], "a/b": 1,
  "a~b": "say \\"hi\\",\\\\",
  "\\u0041": true,
  "": -1.5e3 }
`

t.test('a value has the line that it starts on', (t) => {
  readJsonText(text)
  const lines = {
    '': 2,
    '/item': 2,
    '/item/0': 3,
    '/item/0/productId': 4,
    '/item/0/quantity': 5,
    '/item/0/quantity/unit': 6,
    '/item/1': 7,
    '/item/1/0': 7,
    '/item/1/1': 8,
    '/a~1b': 9,
    '/a~0b': 10,
    '/A': 11,
    '/': 12
  }
  t.same(linesAt(text, Object.keys(lines)), Object.values(lines))
  t.same(linesAt(text.replaceAll('\n', '\r\n'), Object.keys(lines)), Object.values(lines), 'with the line ends of Windows')
  t.same(linesAt(text.replaceAll('\n', ''), Object.keys(lines)), Array(Object.keys(lines).length).fill(1))
  t.end()
})

t.test('a place that does not exist has the line of the nearest value around it', (t) => {
  t.same(linesAt(text, ['/item/0/note', '/item/0/quantity/value/x', '/item/9/quantity', '/buyer/name', '/item/x']), [3, 6, 2, 2, 2])
  t.same(linesAt('[\n]', ['/0', '']), [1, 1])
  t.end()
})

t.test('of a repeated member the last value counts, as when the text is read', (t) => {
  t.same(linesAt('{"a":{"b":1},\n"a":\n{"b":2,\n"c":3}}', ['/a', '/a/b', '/a/c']), [3, 3, 4])
  t.end()
})

t.test('a pointer that was cut has the line of the object that it leads into', (t) => {
  const name = 'n'.repeat(1_000)
  t.same(linesAt(`{\n"a":\n{\n"${name}":\n1}}`, [`/a/${name}`, `/a/${name.slice(0, 250)}…`]), [5, 3])
  t.end()
})

t.test('a text of two million line feeds, repeated members and backslashes is scanned in one pass', (t) => {
  const repeated = '"a":\n1,'.repeat(200_000)
  const escaped = `"${'\\\\'.repeat(500_000)}":\n1,`
  const wanted = Array.from({ length: 100 }, () => '/a')
  t.same(linesAt(`{${repeated}${escaped}"a":${'\n'.repeat(1_000_000)}2}`, wanted), Array(100).fill(1_200_002))
  t.end()
})
