import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../', import.meta.url))

t.test('a SIGTERM to npm ends the shop that npm start runs: it stops as it should, and its port is free', async (t) => {
  // The service needs none of the tests' loaders. Only the shell can take them away: tap gives them to each process that is spawned.
  const npm = spawn('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec npm start'], {
    cwd: root,
    detached: true,
    env: {
      ...process.env,
      DATABASE_URL: `sqlite:${join(t.testdir(), 'shop.db')}`,
      PORT: '0',
      SHUTDOWN_DELAY: '0',
      npm_config_update_notifier: 'false'
    },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const closed = once(npm, 'close')
  /** Ends npm and the shop, which are a process group of their own. */
  const endGroup = () => {
    if (npm.pid === undefined) return
    try {
      process.kill(-npm.pid, 'SIGKILL')
    } catch {
      // All of them have ended.
    }
  }
  // A shop that npm leaves behind would keep this process waiting for its output.
  npm.once('exit', endGroup)
  t.teardown(endGroup)
  npm.stderr.resume()
  const messages: string[] = []
  let port = 0
  // npm's own lines begin with ">".
  for await (const line of createInterface(npm.stdout)) {
    if (!line.startsWith('{')) continue
    const { msg, address } = JSON.parse(line) as { msg: string; address?: string }
    messages.push(msg)
    if (!address) continue
    port = Number(new URL(address).port)
    npm.kill('SIGTERM')
  }
  await closed
  t.same(messages.slice(-2), ['the service is stopping', 'the service has stopped'])
  await t.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
})
