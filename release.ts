import { readFileSync } from 'node:fs'
import { manifestFile } from './files.ts'

/** The version of the service. */
export const release: string = (JSON.parse(readFileSync(manifestFile, 'utf8')) as { version: string }).version
