import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { serviceFile } from '../../files.ts'

export interface PublicFile {
  readonly bytes: Buffer
  readonly contentType: string
  /** A digest of the bytes. It is the entity tag, and part of the file's URL so that the file can be cached forever. */
  readonly digest: string
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8'
}

const folder = serviceFile('representations/public/')

/**
 * The files that pages load, by name. They are read once at start, so that no request can name a path on the disk. A script imports others
 * by URLs with their digests, too: after an upgrade a browser must not run a new script with an old one that it has kept.
 */
export const publicFiles: ReadonlyMap<string, PublicFile> = readFiles()

function readFiles(): ReadonlyMap<string, PublicFile> {
  const files = new Map<string, PublicFile>()
  // A script comes after those that it imports, because their digests are part of its bytes.
  const add = (name: string): PublicFile | undefined => {
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined || files.has(name)) return files.get(name)
    const withDigests = (_: string, imported: string) => `from './${imported}?v=${add(imported)?.digest}'`
    const source = readFileSync(new URL(name, folder), 'utf8')
    const bytes = Buffer.from(contentType.startsWith('text/javascript') ? source.replace(/\bfrom '\.\/([^']+)'/g, withDigests) : source)
    const file = { bytes, contentType, digest: hash('sha256', bytes).slice(0, 16) }
    files.set(name, file)
    return file
  }
  for (const name of readdirSync(folder)) add(name)
  return files
}

/** The URL path of a public file. @throws Error when there is none of this name */
export function publicPath(base: string, name: string): string {
  const file = publicFiles.get(name)
  if (!file) throw new Error(`there is no public file ${name}`)
  return `${base}/public/${name}?v=${file.digest}`
}
