import t from 'tap'
import { parseHandling, parseReturn } from '../../http/preferences.ts'

t.test('the return preference is read among others (RFC 7240 2, 4.2)', async (t) => {
  const rows: readonly [string, ReturnType<typeof parseReturn>][] = [
    ['return=minimal', 'minimal'],
    ['return=representation', 'representation'],
    ['return="minimal"', 'minimal'],
    ['Return=Minimal', 'minimal'],
    ['return = minimal', 'minimal'],
    ['return=minimal; foo="some parameter"', 'minimal'],
    ['respond-async, wait=100, return=minimal', 'minimal'],
    ['foo="a, return=minimal"', undefined],
    ['foo="a, return=minimal", return=representation', 'representation'],
    ['return=minimal, return=representation', 'minimal'],
    ['return=everything, return=minimal', undefined],
    ['return', undefined],
    ['return=""', undefined],
    ['return="minimal', undefined],
    ['returns=minimal', undefined],
    ['handling=lenient', undefined],
    ['', undefined]
  ]
  for (const [header, expected] of rows) t.equal(parseReturn(header), expected, header)
})

t.test('the handling preference is read among others (RFC 7240 2, 4.4)', async (t) => {
  const rows: readonly [string, ReturnType<typeof parseHandling>][] = [
    ['handling=lenient', 'lenient'],
    ['return=minimal, Handling="Lenient"; foo=bar', 'lenient'],
    ['handling=strict, handling=lenient', 'strict'],
    ['handling=all, handling=lenient', undefined],
    ['handling', undefined],
    ['foo="a, handling=lenient"', undefined],
    ['', undefined]
  ]
  for (const [header, expected] of rows) t.equal(parseHandling(header), expected, header)
})
