#!/usr/bin/env node
// The `tradepost` command. npx links this file when it is first asked for it, so it is there before the first build.
import { existsSync } from 'node:fs'

const cli = new URL('./dist/cli.js', import.meta.url)
if (existsSync(cli)) await import(cli.href)
else {
  process.stderr.write('tradepost: this folder has no build yet: run npm start, or npm run build\n')
  process.exitCode = 1
}
