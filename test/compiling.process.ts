import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { smallDisk } from './small-disk.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The types that the compiler cannot do without. To read its own library would take it longer than everything else in a build. */
const globals = [
  'Array<T>',
  'Boolean',
  'CallableFunction',
  'Function',
  'IArguments',
  'ImportMeta',
  'NewableFunction',
  'Number',
  'Object',
  'RegExp',
  'String'
]

/** A project of the same shape that is built in no time, with the real build scripts. */
function project(t: Test): string {
  const options = {
    target: 'es2023',
    noLib: true,
    module: 'nodenext',
    strict: true,
    types: [],
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    rootDir: '.'
  }
  const entry = 'export const entry = true\n'
  const folder = t.testdir({
    'package.json': '{"type":"module","version":"1.0.0"}',
    'package-lock.json': '{}',
    'tsconfig.json': JSON.stringify({ compilerOptions: options }),
    'tsconfig.build.json': JSON.stringify({
      extends: './tsconfig.json',
      include: ['*.ts', 'documents', 'representations', 'schemas', 'stores', 'webhooks']
    }),
    'globals.d.ts': globals.map((name) => `interface ${name} {}\n`).join(''),
    'cli.ts': "export const cli: string = 'one'\n",
    'server.ts': entry,
    documents: { 'process.ts': entry },
    schemas: { 'a.ts': 'export const a = 1\n', 'a.xsd': '<a/>', 'README.md': '' },
    representations: { views: { 'home.eta': 'home' } },
    stores: {
      'a.sql': 'SELECT 1',
      postgres: { 'order-thread.ts': entry },
      sqlite: { 'search-thread.ts': entry, 'writer-thread.ts': entry }
    },
    webhooks: { 'sending-thread.ts': entry },
    samples: { 'a.xml': '<a/>' }
  })
  for (const name of ['build.js', 'bundle.js', 'start.js']) copyFileSync(join(root, name), join(folder, name))
  cpSync(join(root, 'code-cache'), join(folder, 'code-cache'), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  for (const name of ['typescript', '@types', 'esbuild', '@esbuild'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  return folder
}

function start(folder: string, script = 'build.js'): ChildProcess {
  // Only the shell can take the tests' loaders away: tap gives them to each process that is spawned.
  return spawn('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$1"', process.execPath, join(folder, script)], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
}

/** Runs the build script, from any folder. @returns its exit code, and what it says */
async function build(folder: string): Promise<{ code: number | null; said: string }> {
  const child = start(folder)
  const [said, errors, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'close') as Promise<[number | null]>
  ])
  return { code, said: said + errors }
}

const dist = (folder: string, path: string) => readFileSync(join(folder, 'dist', path), 'utf8')

t.test('an unchanged service is not built again, and any change of a source, an asset or a setting is built', async (t) => {
  const folder = project(t)
  t.match(await build(folder), { code: 0, said: /Compiling/ })
  t.match(dist(folder, 'cli.js'), 'one')
  t.equal(dist(folder, 'schemas/a.xsd'), '<a/>')
  t.equal(dist(folder, 'representations/views/home.eta'), 'home')
  t.notOk(existsSync(join(folder, 'dist', 'schemas', 'README.md')))
  t.equal(dist(folder, '../package.json'), readFileSync(join(folder, 'package.json'), 'utf8'), 'the version is above the code')
  const first = readlinkSync(join(folder, 'dist'))
  t.same(await build(folder), { code: 0, said: '' })
  t.equal(readlinkSync(join(folder, 'dist')), first)

  const changes: readonly (readonly [path: string, content: string, built: string])[] = [
    ['cli.ts', "export const cli: string = 'two'\n", 'cli.js'],
    ['representations/views/new.eta', 'new', 'representations/views/new.eta'],
    ['package.json', '{"type":"module","version":"1.0.1"}', '../package.json']
  ]
  for (const [path, content, built] of changes) {
    writeFileSync(join(folder, path), content)
    t.match(await build(folder), { code: 0, said: /Compiling/ }, path)
    t.match(dist(folder, built), content.match(/two/)?.[0] ?? content)
    t.same(await build(folder), { code: 0, said: '' }, path)
  }
  rmSync(join(folder, 'representations/views/new.eta'))
  t.match(await build(folder), { code: 0, said: /Compiling/ }, 'a file that is gone')
  t.notOk(existsSync(join(folder, 'dist/representations/views/new.eta')))

  const addon = join(folder, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node')
  mkdirSync(dirname(addon), { recursive: true })
  writeFileSync(addon, 'for another Node.js')
  t.match(await build(folder), { code: 0, said: /Compiling/ }, 'an addon that npm has replaced')
  t.same(await build(folder), { code: 0, said: '' })

  const record = join(folder, readlinkSync(join(folder, 'dist')), '../build.json')
  writeFileSync(record, readFileSync(record, 'utf8').replace(process.version, `${process.version}0`))
  t.match(await build(folder), { code: 0, said: /Compiling/ }, 'another Node.js made the build')

  rmSync(join(folder, 'dist/schemas/a.xsd'))
  t.match(await build(folder), { code: 0, said: /Compiling/ }, 'what was built is damaged')
  t.ok(existsSync(join(folder, 'dist/schemas/a.xsd')))
  t.ok(readdirSync(join(folder, '.builds')).length <= 5, 'old builds do not pile up')
})

t.test('a build that fails or is killed leaves the one before as it was', async (t) => {
  const folder = project(t)
  await build(folder)
  const before = readlinkSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'cli.ts'), 'export const cli: string = 1\n')
  const failed = await build(folder)
  t.equal(failed.code, 1)
  t.match(failed.said, /cli\.ts\(1,14\): error TS2322/)
  t.match(failed.said, /The build failed, and dist\/ was not changed: the compiler found errors/)
  t.notMatch(failed.said, /\n +at /, 'no stack trace')
  writeFileSync(join(folder, 'cli.ts'), '// @ts-ignore\nexport const cli: string = import.meta.url\n')
  t.match(await build(folder), { code: 1, said: /was not changed: .*cli\.ts.*Use serviceFile\(\) of files\.ts/s })
  t.same([readlinkSync(join(folder, 'dist')), dist(folder, 'cli.js').includes('one')], [before, true])

  writeFileSync(join(folder, 'cli.ts'), "export const cli: string = 'two'\n")
  const child = start(folder)
  await once(child.stderr ?? child, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.same([readlinkSync(join(folder, 'dist')), dist(folder, 'cli.js').includes('one')], [before, true])
  t.match(await build(folder), { code: 0 })
  t.match(dist(folder, 'cli.js'), 'two')
})

t.test('two builds at once are both right, and the folder of an earlier version gives way to the link', async (t) => {
  const folder = project(t)
  mkdirSync(join(folder, 'dist', 'old'), { recursive: true })
  writeFileSync(join(folder, 'dist', 'old', 'a.js'), '')
  t.match(await Promise.all([build(folder), build(folder)]), [{ code: 0 }, { code: 0 }])
  const code = ['cli.js', 'cli.js.map', 'code', 'documents', 'server.js']
  const files = [...code, 'representations', 'samples', 'schemas', 'stores', 'webhooks'].sort()
  t.same(readdirSync(join(folder, 'dist')).sort(), files)
  t.same(await build(folder), { code: 0, said: '' })
  const moved = `${folder}-moved`
  renameSync(folder, moved)
  t.teardown(() => rmSync(moved, { recursive: true }))
  t.same(await build(moved), { code: 0, said: '' }, 'the folder may be moved')
})

t.test('the build of a running service stays, however many builds come after it', async (t) => {
  const folder = project(t)
  // The service that the build starts for its code cache ends.
  const server = "// @ts-nocheck\nprocess.stdout.write('runs')\nif (!process.env.CODE_CACHE_REQUEST) setInterval(() => undefined, 1e9)\n"
  writeFileSync(join(folder, 'server.ts'), server)
  const service = start(folder, 'start.js')
  t.teardown(() => service.kill('SIGKILL'))
  if (service.stdout) await once(service.stdout, 'data')
  const first = join(folder, readlinkSync(join(folder, 'dist')))
  const builds = async () => {
    for (let i = 0; i < 6; i++) {
      writeFileSync(join(folder, 'samples', 'a.xml'), `<a n="${Math.random()}"/>`)
      t.match(await build(folder), { code: 0, said: /Compiling/ })
    }
  }
  await builds()
  t.ok(existsSync(join(first, 'server.js')), 'while it runs')
  service.kill('SIGKILL')
  await once(service, 'exit')
  await builds()
  t.notOk(existsSync(first), 'not when it has ended')
})

t.test('a build counts although old ones cannot be removed', async (t) => {
  const folder = project(t)
  mkdirSync(join(folder, '.builds'))
  symlinkSync('loop', join(folder, '.builds', 'loop'))
  t.match(await build(folder), { code: 0, said: /\nOld builds in \.builds could not be removed: ELOOP: .*\n$/ })
  t.match(dist(folder, 'cli.js'), 'one')
})

t.test('without the compiler it says what to install, and what is built already needs none', async (t) => {
  const folder = project(t)
  await build(folder)
  rmSync(join(folder, 'node_modules'), { recursive: true })
  t.same(await build(folder), { code: 0, said: '' })
  writeFileSync(join(folder, 'stores', 'a.sql'), 'SELECT 2')
  t.match(await build(folder), { code: 1, said: /the compiler is not installed\. Run: npm ci/ })
})

t.test('where it may not write, it says so and what to do', async (t) => {
  const disk = smallDisk(t, 1)
  if (!disk) return t.pass('', { skip: 'needs the right to mount a disk' })
  const folder = join(disk.folder, 'shop')
  cpSync(project(t), folder, { recursive: true, verbatimSymlinks: true })
  disk.remount('ro')
  t.same(await build(folder), {
    code: 1,
    said: `Compiling to dist/ ...
The build failed, and dist/ was not changed: this user may not write in ${folder}. Make the folder writable, or copy it to one that is.
`
  })
})
