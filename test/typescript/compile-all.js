// Tap runs this before the tests. It compiles the TypeScript files that have changed: otherwise each process of the tests would compile
// nearly all of them. And it builds the service, whose helpers the tests run (built-helpers.js).
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { compile, isTypeScript, read } from './hooks.js'

const root = new URL('../../', import.meta.url)
const require = createRequire(import.meta.url)

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const url = new URL(`${encodeURIComponent(entry.name)}${entry.isDirectory() ? '/' : ''}`, folder)
    if (!entry.isDirectory()) return [url.href]
    return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : filesIn(url)
  })
}

for (const url of filesIn(root)) {
  if (!isTypeScript(url)) continue
  const file = read(url)
  if (file.javascript === undefined) compile(file, require('ts-blank-space').default)
}

// In a process without tap's loaders, which would count the build script for the coverage. Only the shell can take them away.
const args = [
  process.execPath,
  `--import=${new URL('register.js', import.meta.url)}`,
  fileURLToPath(new URL('build-service.js', import.meta.url))
]
execFileSync('/bin/sh', ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', ...args], { stdio: 'inherit' })
