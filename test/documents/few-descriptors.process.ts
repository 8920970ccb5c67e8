import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const program = fileURLToPath(new URL('few-descriptors.ts', import.meta.url))
const loader = new URL('../typescript/register.js', import.meta.url).href

t.test('a document process for which there is no descriptor is not started, and the service goes on', async (t) => {
  const command = 'ulimit -n 256 && exec "$0" "$@"'
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, `--import=${loader}`, program])
  t.same(JSON.parse(stdout), ['unavailable', { fields: [['a', 'b']], isCut: false }])
})
