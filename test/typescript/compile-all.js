// Tap runs this before the tests. It compiles the TypeScript files that have changed: otherwise each process of the tests would compile
// nearly all of them. And it builds the service, whose helpers the tests run (built-helpers.js).
import { readdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { helpers } from '../../bundle.js'
import { record } from './built-helpers.js'
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

const { compile: build } = await import('../cli/compile.ts')
const whole = new URL(`${record.href}.${process.pid}`)
writeFileSync(whole, JSON.stringify({ folder: `${pathToFileURL(await build())}/`, helpers }))
// Tests of another run may read it at this moment, and a rename shows them a whole one.
renameSync(whole, record)
