import { readFileSync } from 'node:fs'
import t from 'tap'
import { longestWait } from '../../http/preferences.ts'

t.test('nginx waits longer for an answer than a request for events may wait', async (t) => {
  const configuration = readFileSync('docker/nginx.conf', 'utf8')
  const timeouts = [...configuration.matchAll(/proxy_read_timeout (\d+)s;/g)].map(([, seconds]) => Number(seconds))
  t.ok(timeouts.length > 0)
  for (const seconds of timeouts) t.ok(seconds >= longestWait + 10, `${seconds} s`)
})
