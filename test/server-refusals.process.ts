import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { openStore } from '../stores/open.ts'
import { compile } from './cli/compile.ts'
import { spawnServer } from './run-server.ts'
import { smallDisk } from './small-disk.ts'

/** The standard error of a service that does not start. */
async function refusal(t: Test, url: string, file?: string): Promise<string> {
  const child = spawnServer(t, { DATABASE_URL: url }, file)
  const ended = once(child, 'exit')
  // Its log begins when it has started after all.
  child.stdout?.once('data', () => child.kill())
  const output = child.stderr ? await text(child.stderr) : ''
  t.equal((await ended)[0], 1)
  t.match(output, /^[^\n]+\n$/, 'one line')
  return output
}

t.test('a database that cannot be opened ends the start with one line that names it and says what to do', async (t) => {
  const folder = t.testdir({ 'notes.txt': 'notes' })
  const path = join(folder, 'notes.txt')
  t.equal(await refusal(t, `sqlite:${path}`), `${path} is not a SQLite database: correct DATABASE_URL, or restore a backup\n`)
  t.equal(readFileSync(path, 'utf8'), 'notes')
  const output = await refusal(t, 'postgres://shop:s3cret@127.0.0.1:1/shop')
  t.match(output, /^PostgreSQL at 127\.0\.0\.1:1 cannot be reached .*: start it, or correct DATABASE_URL\n$/)
})

t.test('a disk that has no room for the sample catalogue ends the start with one line', async (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) return t.pass('', { skip: 'needs the right to mount a disk' })
  const url = `sqlite:${join(disk.folder, 'shop.db')}`
  await (await openStore(url, 'EUR')).close()
  // The database opens, but its log has no room for the products.
  disk.fill(50_000)
  t.match(await refusal(t, url), /^the sample catalogue cannot be stored: .*shop\.db cannot be .*written: the disk is full/)
})

t.test('packages that were installed for another Node.js end the start, and a command, with one line', async (t) => {
  const prefixes = { 'server.js': '', 'cli.js': 'tradepost: ' }
  for (const [script, prefix] of Object.entries(prefixes)) {
    const module = pathToFileURL(join(await compile(), script)).href
    const folder = t.testdir({
      'other-node.mjs': `process.dlopen = () => {
        throw Object.assign(new Error("The module '/shop/addon.node'\\nwas compiled against a different Node.js version using\\nNODE_MODULE_VERSION 1. Please try"), { code: 'ERR_DLOPEN_FAILED' })
      }`,
      [script.replace('.js', '.mjs')]: `import './other-node.mjs'\nimport ${JSON.stringify(module)}`
    })
    const output = await refusal(t, `sqlite:${join(folder, 'shop.db')}`, join(folder, script.replace('.js', '.mjs')))
    t.ok(output.startsWith(prefix))
    t.match(
      output.slice(prefix.length),
      /^The packages were installed for another Node\.js than this one \(v\d+\.\d+\.\d+\): run npm ci, or use that Node\.js \(\/shop\/addon\.node\)\n$/
    )
  }
})
