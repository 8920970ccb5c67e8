import t from 'tap'
import { readRetryAfter } from '../../webhooks/schedule.ts'

t.test('Retry-After is seconds or a date; anything else is ignored (RFC 9110 10.2.3)', async (t) => {
  const now = Date.parse('2026-11-21T08:00:00Z')
  for (const [field, wait] of [
    ['120', 120_000],
    [' 0 ', 0],
    ['Sat, 21 Nov 2026 08:01:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 07:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['99999999999999', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined]
  ] as const)
    t.equal(readRetryAfter(field, now), wait, String(field))
})
