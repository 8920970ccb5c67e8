import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { helpers } from '../../bundle.js'
import { compile } from '../cli/compile.ts'
import { builtHelpers } from './built-helpers.js'

const register = new URL('register.js', import.meta.url).href

/** Runs a program as a test is run. */
function run(file: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--enable-source-maps', `--import=${register}`, file], { encoding: 'utf8' })
  return stdout + stderr
}

function program(t: Test, text: string): string {
  return join(t.testdir({ 'part.ts': text, 'main.ts': "import './part.ts'\n" }), 'main.ts')
}

t.test('an edit is always seen, also one that changes neither the size nor the time of the file', async (t) => {
  const main = program(t, "console.log('one' as string)\n")
  const part = join(main, '..', 'part.ts')
  const { atime, mtime } = statSync(part)
  t.equal(run(main), 'one\n')
  t.equal(run(main), 'one\n')
  writeFileSync(part, "console.log('two' as string)\n")
  utimesSync(part, atime, mtime)
  t.equal(run(main), 'two\n')
})

t.test('each compiled module is kept in one file, and is made again if it was damaged', async (t) => {
  const main = program(t, "console.log('one' as string)\n")
  const folder = join('.tap', 'compiled', relative('.', join(main, '..')))
  t.equal(run(main), 'one\n')
  t.same(readdirSync(folder).sort(), ['main.ts.js', 'part.ts.js'])
  const kept = join(folder, 'part.ts.js')
  const whole = readFileSync(kept, 'utf8')
  for (const damaged of ['', whole.slice(0, -1)]) {
    writeFileSync(kept, damaged)
    t.equal(run(main), 'one\n')
    t.equal(readFileSync(kept, 'utf8'), whole)
  }
})

t.test('an error has the line of the TypeScript source', async (t) => {
  const main = program(t, 'interface Nothing {\n  a: string\n}\n\nthrow new Error(String(undefined as unknown as Nothing))\n')
  for (const when of ['compiled', 'kept']) t.match(run(main), /part\.ts:5:7/, when)
})

t.test('files that no test imports are compiled too, because all are compiled before the first test', async (t) => {
  t.ok(existsSync(join('.tap', 'compiled', 'bench', 'reads.ts.js')))
})

t.test('the helpers of the service run as they are built from the present sources', async (t) => {
  const built = builtHelpers()
  t.equal(built.size, helpers.length)
  const present = new Set(readdirSync(await compile(), { recursive: true, encoding: 'utf8' }))
  for (const path of helpers) {
    t.ok(built.get(new URL(`../../${path}.ts`, import.meta.url).href)?.endsWith(`/dist/${path}.js`), path)
    t.ok(present.has(`${path}.js`), path)
  }
  t.match([...built.values()][0], pathToFileURL(await compile()).href)
})
