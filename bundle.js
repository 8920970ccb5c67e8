/**
 * Bundles the service and the packages that it depends on, without checking types. Node.js loads a few large files in half the
 * time of many small ones: a start took 1.5 s of processor time with one file a module, and 0.8 s as bundles.
 */
import { cpSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const top = fileURLToPath(new URL('.', import.meta.url))

/** The modules that a process or thread starts with. `entryModule` in files.ts finds them. */
const entries = [
  'server.ts',
  'cli.ts',
  'documents/process.ts',
  'stores/postgres/order-thread.ts',
  'stores/sqlite/reader-thread.ts',
  'stores/sqlite/writer-thread.ts'
]

/** Packages with native addons, which find their own files. pg loads pg-native only if it is asked to. */
const external = ['better-sqlite3', 'libxmljs2', 'pg-native']

/** These folders have files besides code, which keep their paths. */
const assetFolders = ['schemas', 'representations', 'stores', 'samples']
const isAsset = (source) => !/\.(?:ts|md)$/.test(source)

/** CommonJS packages expect these names, which a module does not have. */
const commonJs = `import { createRequire as __createRequire } from 'node:module'
const require = __createRequire(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname`

/** A source map without mappings. The maps of packages would be four fifths of ours, and are not needed to read a stack trace. */
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

/** @param folder where the build is written, with the same folders as the sources */
export async function bundle(folder) {
  const { metafile } = await build({
    absWorkingDir: top,
    entryPoints: entries,
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external,
    banner: { js: commonJs },
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [packagesWithoutMaps, ownUrls]
  })
  for (const [output, { inputs }] of Object.entries(metafile.outputs)) {
    if (inputs['files.ts'] && resolve(top, dirname(output)) !== resolve(top, folder))
      throw new Error(`files.ts must be at the top, not in ${output}`)
  }
  for (const assets of assetFolders) cpSync(join(top, assets), resolve(top, folder, assets), { recursive: true, filter: isAsset })
}
