/**
 * Compiles the service to dist/, unless what is there was made from the very same files.
 *
 * A build is made in a folder of its own under .builds/, and dist is a symbolic link that is moved to it when it is
 * whole: who looks at dist always finds a whole build, and a shop that runs stays with the one that it was started from.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const builds = '.builds'
const compiler = 'node_modules/typescript/bin/tsc'
/** Builds that are kept, the newest: a shop that runs may need a file of an older one, to replace a thread that died. */
const kept = 5
/** A folder without its record is a build that is under way, or, when it is this old, one that was interrupted. */
const abandonedAfter = 3_600_000

/** What is not code lies beside the code that reads it. */
const assetFolders = ['schemas', 'representations', 'stores', 'samples']
const isAsset = (source) => !/\.(?:ts|md)$/.test(source)

/** Every file in a folder, sorted, so that a digest of them does not depend on the disk's order. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}

/** Everything that a build depends on. npm notes in node_modules what it has installed, the compiler among it. */
function inputFiles() {
  const { include } = JSON.parse(readFileSync('tsconfig.build.json', 'utf8'))
  const here = readdirSync('.').filter((name) => name.endsWith('.ts'))
  const sources = include.flatMap((entry) => (entry === '*.ts' ? here : filesIn(entry)))
  const settings = ['build.js', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
  const installed = ['node_modules/.package-lock.json'].filter((path) => existsSync(path))
  return [...new Set([...settings, ...installed, ...sources, ...assetFolders.flatMap(filesIn)])]
}

/** Of the names and the contents. Times of change would be wrong after a checkout, and within one tick of the clock. */
function digest(paths, from = '') {
  const hash = createHash('sha256')
  for (const path of paths) {
    const content = readFileSync(path)
    hash.update(`${path.slice(from.length)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** Whether dist was made from the files as they are, and is as it was made. */
function isCurrent() {
  try {
    const target = readlinkSync('dist')
    const { inputs, outputs } = JSON.parse(readFileSync(join(dirname(target), 'build.json'), 'utf8'))
    return inputs === digest(inputFiles()) && outputs === digest(filesIn(target), target)
  } catch {
    // There is no build, an older kind of one, or half of one: another is made.
    return false
  }
}

function compile(to) {
  // Not just any that Node.js would find: the one of the lock file.
  if (!existsSync(compiler)) throw new Error('the compiler is not installed. Run: npm ci')
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', to], { stdio: 'inherit' })
  for (const folder of assetFolders) cpSync(folder, join(to, folder), { recursive: true, filter: isAsset })
  // npm makes it executable when it links the command, not when it is built again afterwards.
  chmodSync(join(to, 'cli.js'), 0o755)
}

/** @returns the folder, relative to here, whose `dist` is the build */
function build() {
  mkdirSync(builds, { recursive: true })
  const folder = mkdtempSync(`${builds}/`)
  // Else only its owner could enter it.
  chmodSync(folder, 0o755)
  const output = join(folder, 'dist')
  try {
    let inputs
    do {
      // A file that is saved while the compiler runs may or may not be in what it wrote.
      inputs = digest(inputFiles())
      rmSync(output, { recursive: true, force: true })
      compile(output)
    } while (inputs !== digest(inputFiles()))
    // The service reads its version one above its code.
    copyFileSync('package.json', join(folder, 'package.json'))
    writeFileSync(join(folder, 'build.json'), JSON.stringify({ inputs, outputs: digest(filesIn(output), output) }))
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Moves the link to a build, in one step. */
function publish(folder) {
  const link = join(folder, 'link')
  symlinkSync(join(folder, 'dist'), link)
  try {
    renameSync(link, 'dist')
  } catch (error) {
    // Earlier versions had a folder there, which no link can take the place of.
    if (error.code !== 'EISDIR') throw error
    renameSync('dist', join(folder, 'earlier'))
    renameSync(link, 'dist')
    rmSync(join(folder, 'earlier'), { recursive: true, force: true })
  }
}

function removeOld() {
  const current = dirname(readlinkSync('dist'))
  const found = readdirSync(builds).map((name) => {
    const folder = join(builds, name)
    const record = join(folder, 'build.json')
    const isWhole = existsSync(record)
    // It may be gone: another build looks for old ones, too.
    return { folder, isWhole, at: statSync(isWhole ? record : folder, { throwIfNoEntry: false })?.mtimeMs ?? 0 }
  })
  const whole = found.filter(({ isWhole }) => isWhole).sort((a, b) => b.at - a.at)
  const abandoned = found.filter(({ isWhole, at }) => !isWhole && Date.now() - at > abandonedAfter)
  for (const { folder } of [...whole.slice(kept), ...abandoned]) {
    if (folder !== current) rmSync(folder, { recursive: true, force: true })
  }
}

function reason(error) {
  // The exit status of the compiler, which has said what is wrong.
  return error.status === undefined ? error.message : 'the compiler found errors, see above.'
}

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
if (!isCurrent()) {
  process.stderr.write('Compiling to dist/ ...\n')
  try {
    publish(build())
    removeOld()
  } catch (error) {
    process.stderr.write(`Not built, dist/ is as it was: ${reason(error)}\n`)
    process.exit(1)
  }
}
