// Tap runs this before the tests: it compiles the TypeScript files that have changed. Otherwise each process of the tests would
// compile nearly all of them.
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
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
