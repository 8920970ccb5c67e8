import { readFileSync } from 'node:fs'

// Beside the sources, or one above the built files.
const manifest = new URL(import.meta.url.endsWith('.ts') ? './package.json' : '../package.json', import.meta.url)

/** The version of this Tradepost. */
export const release: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
