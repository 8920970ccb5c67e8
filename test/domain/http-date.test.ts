import t from 'tap'
import { parseHttpDate } from '../../domain/http-date.ts'

t.test('an HTTP date in any of its three forms is the same time (RFC 9110 5.6.7)', async (t) => {
  const expected = Date.UTC(1994, 10, 6, 8, 49, 37)
  for (const text of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
    t.equal(parseHttpDate(text), expected, text)
})

t.test('a year of two digits that seems more than 50 years ahead is in the past (RFC 9110 5.6.7)', async (t) => {
  const year = (digits: number) =>
    new Date(parseHttpDate(`Sunday, 06-Nov-${String(digits).padStart(2, '0')} 08:49:37 GMT`) ?? 0).getUTCFullYear()
  const now = new Date().getUTCFullYear()
  t.equal(year((now + 49) % 100), now + 49)
  t.equal(year((now + 51) % 100), now - 49)
  t.equal(year(now % 100), now)
})

t.test('a text that is no HTTP date is not read', async (t) => {
  for (const text of [
    '',
    '0',
    '784111777',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT'
  ]) {
    t.equal(parseHttpDate(text), undefined, text)
  }
  t.equal(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT'), Date.UTC(2017, 0, 1), 'but a leap second is one')
})
