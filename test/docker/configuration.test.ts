import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { longestPreferredWait } from '../../http/preferences.ts'

t.test('nginx waits longer for an answer than a request for events may wait', async (t) => {
  const configuration = readFileSync('docker/nginx.conf', 'utf8')
  const timeouts = [...configuration.matchAll(/proxy_read_timeout (\d+)s;/g)].map(([, seconds]) => Number(seconds))
  t.ok(timeouts.length > 0)
  for (const seconds of timeouts) t.ok(seconds >= longestPreferredWait + 10, `${seconds} s`)
})

t.test('the image compiles its addons, by a setting of which npm does not warn', async (t) => {
  const dockerfile = readFileSync('docker/Dockerfile', 'utf8')
  t.notMatch(dockerfile, 'npm_config_build_from_source')
  const [, settings = '', file = ''] = /^RUN echo '(.*)' > (\S+)$/m.exec(dockerfile) ?? []
  t.equal(file, '/etc/prebuild-installrc')
  const folder = t.testdir({ '.prebuild-installrc': settings })
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  const readSettings = createRequire(import.meta.url)('prebuild-install/rc')
  process.chdir(folder)
  t.equal(readSettings({ name: 'better-sqlite3' }).buildFromSource, true)
})

t.test('the label of the image has the version of the service', async (t) => {
  const [, version] = /^ARG VERSION=(.*)$/m.exec(readFileSync('docker/Dockerfile', 'utf8')) ?? []
  t.equal(version, JSON.parse(readFileSync('package.json', 'utf8')).version)
})
