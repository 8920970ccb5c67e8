import { readFileSync } from 'node:fs'

// package.json is next to the sources, or one folder above the built files.
const manifest = new URL(import.meta.url.endsWith('.ts') ? './package.json' : '../package.json', import.meta.url)

/** The version of the service. */
export const release: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
