import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

const root = fileURLToPath(new URL('../../', import.meta.url))
/** The folders of the build, and the sample. */
const folders: readonly string[] = [
  ...JSON.parse(readFileSync(join(root, 'tsconfig.build.json'), 'utf8')).include.filter((entry: string) => !entry.includes('*')),
  'code-cache',
  'samples'
]

/** Inside the repository, so that the dependencies are found. */
const compiled = join(root, '.tap', 'service')

/** How long a build is kept that no test asks for, in milliseconds: a test may be running it. */
const kept = 24 * 60 * 60 * 1000

/**
 * Bundles the service and its command. The build is made once for all who ask, until a file changes.
 * @returns the folder with `cli.js` and `server.js`
 */
export async function compile(): Promise<string> {
  const paths = sources()
  const build = join(compiled, digest(paths))
  try {
    utimesSync(build, new Date(), new Date())
  } catch {
    removeOld()
    await make(build)
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

/** The digest of everything that the build is made of. A build that is named by it is never stale. */
function digest(paths: readonly string[]): string {
  const hash = createHash('sha256')
  const makers = ['bundle.js', 'package.json', 'package-lock.json', 'tsconfig.json', fileURLToPath(import.meta.url).slice(root.length)]
  for (const path of [...makers, ...paths]) {
    const bytes = readFileSync(join(root, path))
    hash.update(`${path}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest('hex')
}

async function make(build: string): Promise<void> {
  // Made aside and renamed: whoever finds the folder finds all of it.
  const aside = `${build}.${randomBytes(6).toString('hex')}`
  // The service that the build starts for its code cache must have none of the tests' loaders. Only the shell can take them
  // away: tap gives them to each process that is spawned.
  const program = 'const { bundle } = await import(process.argv[1]); await bundle(process.argv[2])'
  const args = [process.execPath, '--input-type=module', '-e', program, join(root, 'bundle.js'), join(aside, 'dist')]
  await run('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', ...args])
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
