// Compiles to dist/, and puts what is not code beside the code that reads it.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json'], { stdio: 'inherit' })

const isAsset = (source) => !/\.(?:ts|md)$/.test(source)
for (const folder of ['schemas', 'representations', 'stores', 'samples']) {
  cpSync(folder, `dist/${folder}`, { recursive: true, filter: isAsset })
}

// npm makes it executable when it links the command, not when it is built again afterwards.
chmodSync('dist/cli.js', 0o755)
