import { execFile } from 'node:child_process'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'

const root = fileURLToPath(new URL('../', import.meta.url))

/**
 * Runs `npx tradepost` in a folder. npx links the command of a folder when it is first asked for, and never again. Only the shell can
 * take the tests' loaders away: tap gives them to each process that is spawned.
 */
const npx = (folder: string, ...args: string[]) =>
  promisify(execFile)('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec npx tradepost "$@"', 'npx', ...args], {
    cwd: folder,
    env: { ...process.env, npm_config_cache: join(folder, 'cache'), npm_config_update_notifier: 'false' }
  })

t.test('npx tradepost says what to do before the first build, and runs the command after it', async (t) => {
  const folder = t.testdir({})
  for (const file of ['package.json', 'tradepost.js']) await copyFile(join(root, file), join(folder, file))
  await t.rejects(npx(folder), { code: 1, stderr: /^tradepost: this folder has no build yet: run npm start, or npm run build$/m })
  await mkdir(join(folder, 'dist'))
  await writeFile(join(folder, 'dist', 'cli.js'), 'console.log(process.argv.slice(2).join(" "))')
  t.equal((await npx(folder, 'keys', 'list')).stdout, 'keys list\n')
})
