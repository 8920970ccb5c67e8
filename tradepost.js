#!/usr/bin/env node
// The `tradepost` command. npx links this file when the command is first used, so the file must exist before the first build.
import { existsSync } from 'node:fs'

const cli = new URL('./dist/cli.js', import.meta.url)
if (existsSync(cli)) await import(cli.href)
else {
  process.stderr.write('tradepost: this folder has no build yet: run npm start, or npm run build\n')
  process.exitCode = 1
}
