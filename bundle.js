/**
 * Bundles the service and the packages that it depends on, without checking types. Node.js loads a few large files in half the
 * time of many small ones. The commands are modules that share parts. The service is one file for each process and thread, with
 * a code cache, which only CommonJS can have.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, stop } from 'esbuild'
import { makeCodeCache } from './code-cache/make.js'

const top = fileURLToPath(new URL('.', import.meta.url))

/** The modules that a service with SQLite starts through load.cjs. They get a code cache. */
const withSqlite = ['server', 'documents/process', 'stores/sqlite/writer-thread']
/** All modules that a process or thread starts with. files.ts finds them. */
const entries = [...withSqlite, 'stores/sqlite/search-thread', 'stores/postgres/order-thread', 'webhooks/sending-thread']
/** The modules of the threads and processes that the service starts. */
export const helpers = entries.filter((entry) => entry !== 'server')

/** Packages with native addons, which find their own files. pg loads pg-native only if it is asked to. */
const external = ['better-sqlite3', 'libxmljs2', 'pg-native']

/** These folders have files besides code, which keep their paths. */
const assetFolders = ['schemas', 'representations', 'stores', 'samples']
const isAsset = (source) => !/\.(?:ts|md)$/.test(source)

/** CommonJS packages expect these names, which a module does not have. */
const commonJs = `import { createRequire as __createRequire } from 'node:module'
const require = __createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname`

/** The URL of a file at the top of the build, since files.ts finds all others from there. */
const topUrl = `const __url = new URL('../server.js', require('node:url').pathToFileURL(__filename)).href`

/**
 * Escapes everything that is not ASCII, because load.cjs and files.ts read the code as Latin-1. esbuild does so in strings, but not in
 * regular expressions and comments. In a tagged template it would change the value, and after a backslash the meaning: the code has neither.
 */
const escaped = (code) => code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The name of the code of an entry in the folder `code`. */
const codeName = (entry) => entry.replaceAll('/', '-')

/** A source map without mappings. Those of packages would be four fifths of all mappings, and nobody needs them to read a stack trace. */
const noMap = `data:application/json;base64,${Buffer.from('{"version":3,"sources":[""],"mappings":"A"}').toString('base64')}`

const packagesWithoutMaps = {
  name: 'packages without source maps',
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=${noMap}`,
      loader: 'default'
    }))
  }
}

/** A module's own URL is that of its bundle, so only files.ts may use it. */
const ownUrls = {
  name: 'no module but files.ts uses its own URL',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
      const isForbidden = contents.includes('import.meta.url') && path !== join(top, 'files.ts')
      return {
        contents,
        loader: 'ts',
        errors: isForbidden ? [{ text: 'Use serviceFile() of files.ts, not import.meta.url', location: { file: path } }] : []
      }
    })
  }
}

const common = {
  absWorkingDir: top,
  outbase: '.',
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'silent',
  plugins: [packagesWithoutMaps, ownUrls]
}

async function bundleCommands(folder) {
  const { metafile } = await build({
    ...common,
    entryPoints: ['cli.ts'],
    outdir: folder,
    splitting: true,
    format: 'esm',
    banner: { js: commonJs },
    metafile: true
  })
  for (const [output, { inputs }] of Object.entries(metafile.outputs)) {
    if (inputs['files.ts'] && resolve(top, dirname(output)) !== resolve(top, folder))
      throw new Error(`files.ts must be at the top, not in ${output}`)
  }
}

/** Bundles each entry in the folder `code`, and writes a module in its place that runs it (code-cache/load.cjs). */
async function bundleService(folder) {
  await build({
    ...common,
    entryPoints: Object.fromEntries(entries.map((entry) => [codeName(entry), `${entry}.ts`])),
    outdir: join(folder, 'code'),
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { 'import.meta.url': '__url' },
    banner: { js: topUrl }
  })
  copyFileSync(join(top, 'code-cache/load.cjs'), join(folder, 'code/load.cjs'))
  for (const entry of entries) {
    const code = join(folder, 'code', `${codeName(entry)}.cjs`)
    writeFileSync(code, escaped(readFileSync(code, 'utf8')))
    const path = join(folder, `${entry}.js`)
    const loader = `${'../'.repeat(entry.split('/').length - 1) || './'}code/load.cjs`
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(
      path,
      `import { createRequire } from 'node:module'\n\ncreateRequire(import.meta.url)('${loader}')('${codeName(entry)}')\n`
    )
  }
}

/** @param folder where the build is written, with the same folders as the sources. The folder above it gets package.json */
export async function bundle(folder) {
  try {
    // One after the other: if one failed beside the other, that would still write in the folder while build.js removes it.
    await bundleCommands(folder)
    await bundleService(folder)
  } finally {
    // The process of esbuild would live as long as this one, in which `npm start` then runs the service.
    await stop()
  }
  for (const assets of assetFolders) cpSync(join(top, assets), resolve(top, folder, assets), { recursive: true, filter: isAsset })
  // The service reads its version from the folder above its code.
  copyFileSync(join(top, 'package.json'), resolve(top, folder, '..', 'package.json'))
  await makeCodeCache(resolve(top, folder), withSqlite.map(codeName))
}
