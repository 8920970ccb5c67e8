import t from 'tap'
import { readRetryAfter } from '../../webhooks/schedule.ts'

t.test('Retry-After is seconds or a date; anything else is ignored (RFC 9110 10.2.3)', async (t) => {
  const now = Date.parse('2026-11-21T08:00:00Z')
  for (const [field, wait] of [
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 21 Nov 2026 08:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
    ['Saturday, 21-Nov-26 08:01:00 GMT', 60_000],
    ['-5', undefined],
    ['1.5', undefined],
    ['99999999999999', undefined],
    ['soon', undefined],
    ['later 5', undefined],
    ['a 2027', undefined],
    ['', undefined],
    [undefined, undefined]
  ] as const)
    t.equal(readRetryAfter(field, now), wait, String(field))
})

t.test('a date of the obsolete form without a zone is in UTC, wherever the shop runs (RFC 9110 5.6.7)', async (t) => {
  const zone = process.env['TZ']
  t.teardown(() => {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  })
  process.env['TZ'] = 'America/New_York'
  t.equal(new Date('2026-11-21T00:00:00').getTime(), Date.UTC(2026, 10, 21, 5), 'the zone is in force')
  t.equal(readRetryAfter('Sat Nov 21 08:01:00 2026', Date.UTC(2026, 10, 21, 8)), 60_000)
})
