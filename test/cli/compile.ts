import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** The folders of the build, and the sample. */
const folders: readonly string[] = [
  ...JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')).include.filter((entry: string) => !entry.includes('*')),
  'samples'
]

/** Inside the repository, so that the dependencies are found. */
const compiled = join(root, '.tap', 'service')

/** How long a build is kept that no test asks for, in milliseconds: a test may be running it. */
const kept = 24 * 60 * 60 * 1000

/**
 * Compiles the service and its command, without checking types: a loader that does it in every process that
 * is started would take far longer. The build is made once for all who ask, until a file changes.
 * @returns the folder with `cli.js` and `server.js`
 */
export async function compile(): Promise<string> {
  const paths = sources()
  const build = join(compiled, digest(paths))
  try {
    utimesSync(build, new Date(), new Date())
  } catch {
    removeOld()
    await make(paths, build)
  }
  return join(build, 'dist')
}

function sources(): string[] {
  const entries = readdirSync(root).filter((name) => name.endsWith('.ts'))
  const inside = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length))
  )
  return [...entries, ...inside].sort()
}

/** Of all that the build is made of: a build of this name is never stale. */
function digest(paths: readonly string[]): string {
  const hash = createHash('sha256')
  const makers = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    fileURLToPath(import.meta.url).slice(root.length)
  ]
  for (const path of [...makers, ...paths]) {
    const bytes = readFileSync(join(root, path))
    hash.update(`${path}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest('hex')
}

async function make(paths: readonly string[], build: string): Promise<void> {
  const transpile = await compiler()
  // Made aside and renamed: whoever finds the folder finds all of it.
  const aside = `${build}.${randomBytes(6).toString('hex')}`
  for (const path of paths) {
    const target = join(aside, 'dist', path)
    mkdirSync(dirname(target), { recursive: true })
    if (path.endsWith('.ts')) writeFileSync(target.replace(/\.ts$/, '.js'), transpile(path))
    else copyFileSync(join(root, path), target)
  }
  copyFileSync(join(root, 'package.json'), join(aside, 'package.json'))
  try {
    renameSync(aside, build)
  } catch (error) {
    rmSync(aside, { recursive: true })
    const { code } = error as NodeJS.ErrnoException
    // Another process was quicker.
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
  }
}

function removeOld(): void {
  mkdirSync(compiled, { recursive: true })
  for (const name of readdirSync(compiled)) {
    const old = join(compiled, name)
    const { mtimeMs } = statSync(old, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() }
    if (Date.now() - mtimeMs > kept) rmSync(old, { recursive: true, force: true })
  }
}

async function compiler(): Promise<(path: string) => string> {
  // Loaded only where something is compiled: it takes half a second.
  const { default: ts } = await import('typescript')
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)
  const { sourceMap: _map, ...rest } = options
  // Seeing one file only, it cannot tell by package.json that this is a module.
  const esm = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
  const compilerOptions = { ...rest, ...esm, noEmit: false, inlineSourceMap: true, inlineSources: true }
  return (path) => ts.transpileModule(readFileSync(join(root, path), 'utf8'), { fileName: path, compilerOptions }).outputText
}
