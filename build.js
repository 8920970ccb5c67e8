/**
 * Checks the types of the service and bundles it to dist/, unless dist/ was made from the same files.
 *
 * Each build has its own folder under .builds/. The symbolic link dist is moved to it when the build is complete. So dist is
 * always a complete build, and a running service keeps the build that it was started from.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
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
/** The newest builds that are kept, besides those of running services. */
const keptBuilds = 5
/** A folder without build.json is a build in progress. When it is this old, in milliseconds, the build was interrupted. */
const abandonedAfter = 3_600_000

/** All files in a folder, sorted, so that a digest of them does not depend on the order on the disk. */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()
}

/** Further folders that a build depends on. They hold no sources of the service. */
const otherFolders = ['code-cache', 'samples']

/**
 * The list of the packages that npm has installed, with the compiler, and the addons. With an addon of another Node.js no code cache can be
 * made, so the build is made again once `npm ci` has replaced the addon.
 */
const installed = [
  'node_modules/.package-lock.json',
  'node_modules/better-sqlite3/build/Release/better_sqlite3.node',
  'node_modules/libxmljs2/build/Release/xmljs.node'
]

/** All files that a build depends on. */
function inputFiles() {
  const { include } = JSON.parse(readFileSync('tsconfig.build.json', 'utf8'))
  const here = readdirSync('.').filter((name) => name.endsWith('.ts'))
  const sources = include.flatMap((entry) => (entry === '*.ts' ? here : filesIn(entry)))
  const settings = ['build.js', 'bundle.js', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
  return [...new Set([...settings, ...installed.filter((path) => existsSync(path)), ...sources, ...otherFolders.flatMap(filesIn)])]
}

/** A digest of names and contents. Modification times are not reliable after a checkout, or within one tick of the clock. */
function digest(paths, from = '') {
  const hash = createHash('sha256')
  for (const path of paths) {
    const content = readFileSync(path)
    hash.update(`${path.slice(from.length)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** What a build is made from: the files, and Node.js, for which it has a code cache. */
function inputs() {
  return `${digest(inputFiles())} ${process.version} ${process.arch}`
}

/** Whether dist was made from the current files, by this Node.js, and has not been changed since. */
function isCurrent() {
  try {
    const target = readlinkSync('dist')
    const made = JSON.parse(readFileSync(join(dirname(target), 'build.json'), 'utf8'))
    return made.inputs === inputs() && made.outputs === digest(filesIn(target), target)
  } catch {
    // There is no build, or it is incomplete, or an older version made it.
    return false
  }
}

async function compile(to) {
  // Only the compiler of the lock file is used, not one that Node.js might find elsewhere.
  if (!existsSync(compiler)) throw new Error('the compiler is not installed. Run: npm ci')
  execFileSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
  const { bundle } = await import('./bundle.js')
  await bundle(to)
  // npm makes it executable only when it links the command, not after a later build.
  chmodSync(join(to, 'cli.js'), 0o755)
}

/** The option `recursive` would allow an existing folder, but on a read-only disk it fails with ENOENT, which hides the reason. */
function makeBuilds() {
  try {
    mkdirSync(builds)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
}

/** @returns the folder, relative to here, whose `dist` is the build */
async function build() {
  makeBuilds()
  const folder = mkdtempSync(`${builds}/`)
  // mkdtemp makes a folder that only its owner can enter.
  chmodSync(folder, 0o755)
  const output = join(folder, 'dist')
  try {
    let before
    do {
      // If a file is saved while the compiler runs, it is unknown whether the output includes the change.
      before = inputs()
      rmSync(output, { recursive: true, force: true })
      await compile(output)
    } while (before !== inputs())
    writeFileSync(join(folder, 'build.json'), JSON.stringify({ inputs: before, outputs: digest(filesIn(output), output) }))
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/** Moves the link to a build in one atomic step. */
function publish(folder) {
  const link = join(folder, 'link')
  symlinkSync(join(folder, 'dist'), link)
  try {
    renameSync(link, 'dist')
  } catch (error) {
    // An earlier version may have left a folder there, which a link cannot replace.
    if (error.code !== 'EISDIR') throw error
    renameSync('dist', join(folder, 'earlier'))
    renameSync(link, 'dist')
    rmSync(join(folder, 'earlier'), { recursive: true, force: true })
  }
}

/** The names of files beside a build. Each file stands for a service that was started from that build. */
const marker = /^running-(\d+)$/

/** Keeps the current build for as long as this process runs: a service starts its threads and processes from there, also later. */
export function keepForThisProcess() {
  try {
    const folder = dirname(realpathSync('dist'))
    for (const { name, isRunning } of markersIn(folder)) if (!isRunning) rmSync(join(folder, name), { force: true })
    writeFileSync(join(folder, `running-${process.pid}`), '')
  } catch {
    // Where this user may not write, this user cannot remove a build either.
  }
}

function markersIn(folder) {
  const names = readdirSync(folder).filter((name) => marker.test(name))
  return names.map((name) => ({ name, isRunning: isAlive(Number(marker.exec(name)[1])) }))
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function removeOld() {
  const current = dirname(readlinkSync('dist'))
  const found = readdirSync(builds).map((name) => {
    const folder = join(builds, name)
    const record = join(folder, 'build.json')
    const isWhole = existsSync(record)
    // Another build may have removed it meanwhile.
    return { folder, isWhole, at: statSync(isWhole ? record : folder, { throwIfNoEntry: false })?.mtimeMs ?? 0 }
  })
  const whole = found.filter(({ isWhole }) => isWhole).sort((a, b) => b.at - a.at)
  const abandoned = found.filter(({ isWhole, at }) => !isWhole && Date.now() - at > abandonedAfter)
  for (const { folder } of [...whole.slice(keptBuilds), ...abandoned]) {
    if (folder !== current && !markersIn(folder).some(({ isRunning }) => isRunning)) rmSync(folder, { recursive: true, force: true })
  }
}

/** The system calls that write in the folder. An error of another call may be about a file that cannot be read. */
const folderCalls = ['mkdir', 'mkdtemp', 'rename']

function reason(error) {
  if (['EACCES', 'EPERM', 'EROFS'].includes(error.code) && folderCalls.includes(error.syscall))
    return `this user may not write in ${process.cwd()}. Make the folder writable, or copy it to one that is.`
  // An error with a status is from the compiler, which has printed its errors.
  return error.status === undefined ? error.message : 'the compiler found errors (see above).'
}

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
if (!isCurrent()) {
  process.stderr.write('Compiling to dist/ ...\n')
  try {
    publish(await build())
  } catch (error) {
    process.stderr.write(`The build failed, and dist/ was not changed: ${reason(error)}\n`)
    process.exit(1)
  }
  try {
    removeOld()
  } catch (error) {
    // The new build is whole, so it can be used.
    process.stderr.write(`Old builds in ${builds} could not be removed: ${error.message}\n`)
  }
}
