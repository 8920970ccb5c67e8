import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))
const compiled = join(root, '.tap', 'compiled')
const require = createRequire(import.meta.url)

// What the output depends on besides the source.
const version = digest(
  readFileSync(fileURLToPath(import.meta.url)),
  readFileSync(require.resolve('typescript/package.json')),
  readFileSync(require.resolve('ts-blank-space'))
)

/** tap's own compiler costs each process half a second, and has nothing to do. */
export function resolve(specifier, context, next) {
  if (specifier === '@isaacs/ts-node-temp-fork-for-pr-2009/import') return { url: 'data:text/javascript,', shortCircuit: true }
  return next(specifier, context)
}

export function load(url, context, next) {
  if (!url.startsWith('file:') || !/\.ts(?:$|[?#])/.test(url)) return next(url, context)
  return { format: 'module', source: javascript(fileURLToPath(url)), shortCircuit: true }
}

/** The file's JavaScript: kept from before if it was made of these very bytes, so it is never stale. */
function javascript(path) {
  const source = readFileSync(path)
  const name = relative(root, path)
  if (name.startsWith('..')) return transpile(path, source.toString())
  const key = digest(version, source)
  const kept = join(compiled, `${name}.js`)
  try {
    const text = readFileSync(kept, 'utf8')
    // At the end, which a file that was cut short does not have.
    if (text.endsWith(key)) return text.slice(0, -key.length)
  } catch {
    // It is not there yet.
  }
  const text = transpile(path, source.toString())
  mkdirSync(dirname(kept), { recursive: true })
  // Other processes read and write the same file at the same moment: a rename shows them a whole one.
  const whole = `${kept}.${randomBytes(6).toString('hex')}`
  writeFileSync(whole, text + key)
  renameSync(whole, kept)
  return text
}

/**
 * Blanks the types out. What is left stands on the same lines and columns, so no source map is needed: stack traces and the
 * coverage are right as they are. (Source maps made every process of a test take three times as long: tap looks all of them
 * up again for each module that is loaded.)
 */
function transpile(path, source) {
  const { default: blankSpace } = require('ts-blank-space')
  return blankSpace(source, () => {
    throw new Error(`${path} has syntax that is not only types; see erasableSyntaxOnly in tsconfig.json`)
  })
}

function digest(...parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
