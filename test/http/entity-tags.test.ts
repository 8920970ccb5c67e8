import t from 'tap'
import { parseEntityTags } from '../../http/entity-tags.ts'

const a = { weak: false, opaque: '"a"' }
const b = { weak: false, opaque: '"b"' }
const weakB = { weak: true, opaque: '"b"' }

t.test('entity tags: lists, weak ones, commas and spaces inside (RFC 9110 8.8.3, 13.1.1)', async (t) => {
  const rows: readonly [string, unknown][] = [
    ['*', '*'],
    [' * ', '*'],
    ['"a"', [a]],
    ['"a", "b"', [a, b]],
    ['"a","b"', [a, b]],
    ['"a"\t,\t"b"', [a, b]],
    ['"a", W/"b"', [a, weakB]],
    ['W/"b"', [weakB]],
    ['""', [{ weak: false, opaque: '""' }]],
    ['"a,b"', [{ weak: false, opaque: '"a,b"' }]],
    ['"é\xff"', [{ weak: false, opaque: '"é\xff"' }]],
    [', "a",, "b" ,', [a, b]],
    ['"a" ', [a]]
  ]
  for (const [header, expected] of rows) t.same(parseEntityTags(header), expected, header)
})

t.test('a malformed list of entity tags is refused: an empty field, bare words, other quotes, * among tags', async (t) => {
  for (const header of [
    '',
    ' ',
    ',',
    'a',
    '"a',
    'a"',
    "'a'",
    'w/"a"',
    'W/ "a"',
    'W/a',
    '"a" "b"',
    '"a""b"',
    '"a", b',
    '*, "a"',
    '"a", *',
    '**',
    '"a b"',
    '"a"; q=1',
    '"a\x7f"'
  ]) {
    t.equal(parseEntityTags(header), undefined, JSON.stringify(header))
  }
})

t.test('reading tags takes time in proportion to the field', async (t) => {
  // Processor time is measured, so that other programs do not count. Code that is quadratic would take many times the limit.
  const started = process.cpuUsage()
  for (const unit of ['"', ',', '"a"', 'W/', ' ', '"a" ']) parseEntityTags(unit.repeat(1_000_000))
  t.ok(process.cpuUsage(started).user < 20_000_000)
})
