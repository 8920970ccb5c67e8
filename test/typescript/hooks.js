import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtHelpers } from './built-helpers.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const compiled = join(root, '.tap', 'compiled')
const require = createRequire(import.meta.url)
const helpers = builtHelpers()

// The output depends on these besides the source.
const version = digest(
  readFileSync(fileURLToPath(import.meta.url)),
  readFileSync(require.resolve('typescript/package.json')),
  readFileSync(require.resolve('ts-blank-space'))
)

/** What tap imports first in each process and thread, and these tests do not need: its own compiler. */
const leftOut = [/^@isaacs\/ts-node-temp-fork-for-pr-2009\/import$/]

/**
 * What the helpers of the service do not need, either: the hooks of `t.mockImport`, which ask the main thread about each module twice, and
 * what records the coverage. The service ends its threads without the event by which a record would be written.
 */
const leftOutOfHelpers = [/\/@tapjs\/mock\/dist\/esm\/import\.mjs$/, /\/@tapjs\/processinfo\/dist\/esm\/import\.mjs$/]

/** @param isTest whether the hooks are those of the process of a test, and not those of a helper that it has started */
export function initialize(isTest) {
  if (!isTest) leftOut.push(...leftOutOfHelpers)
}

export function resolve(specifier, context, next) {
  if (leftOut.some((pattern) => pattern.test(specifier))) return { url: 'data:text/javascript,', shortCircuit: true }
  return next(specifier, context)
}

export function load(url, context, next) {
  if (!isTypeScript(url)) return next(url, context)
  const file = read(url)
  return asModule(file.javascript ?? compile(file, require('ts-blank-space').default))
}

export function isTypeScript(url) {
  return url.startsWith('file:') && /\.ts(?:$|[?#])/.test(url)
}

export function asModule(source) {
  return { format: 'module', source, shortCircuit: true }
}

/** Whether a URL is that of the source of a helper which runs as it is built. */
export function isBuilt(url) {
  return helpers.has(url)
}

/**
 * A file, with its JavaScript if that was kept from before. What was kept is never stale: it names the bytes that it was made of.
 * The JavaScript of a helper runs its build.
 */
export function read(url) {
  const built = helpers.get(url)
  if (built !== undefined) return { javascript: `import ${JSON.stringify(built)}` }
  const path = fileURLToPath(url)
  const source = readFileSync(path)
  const name = relative(root, path)
  if (name.startsWith('..')) return { path, source }
  const key = digest(version, source)
  const kept = join(compiled, `${name}.js`)
  try {
    const text = readFileSync(kept, 'utf8')
    // The key is at the end, so a file that was cut short does not have it.
    if (text.endsWith(key)) return { path, source, javascript: text.slice(0, -key.length) }
  } catch {
    // It does not exist yet.
  }
  return { path, source, kept, key }
}

/**
 * Blanks the types out, and keeps the result. What is left stands on the same lines and columns, so no source map is needed:
 * stack traces and the coverage are right as they are. (Source maps made every process of a test take three times as long,
 * because tap looks all of them up again for each module that is loaded.)
 */
export function compile({ path, source, kept, key }, blankSpace) {
  const text = blankSpace(source.toString(), () => {
    throw new Error(`${path} has syntax that is not only types; see erasableSyntaxOnly in tsconfig.json`)
  })
  if (kept === undefined) return text
  mkdirSync(dirname(kept), { recursive: true })
  // Other processes read and write the same file at the same moment. A rename shows them a whole one.
  const whole = `${kept}.${randomBytes(6).toString('hex')}`
  writeFileSync(whole, text + key)
  renameSync(whole, kept)
  return text
}

function digest(...parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
