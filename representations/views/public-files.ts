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

/** The files that pages load, by name. They are read once at start, so that no request can name a path on the disk. */
export const publicFiles: ReadonlyMap<string, PublicFile> = new Map(
  readdirSync(folder).flatMap((name): [string, PublicFile][] => {
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined) return []
    const bytes = readFileSync(new URL(name, folder))
    return [[name, { bytes, contentType, digest: hash('sha256', bytes).slice(0, 16) }]]
  })
)

/** The URL path of a public file. @throws Error when there is none of this name */
export function publicPath(base: string, name: string): string {
  const file = publicFiles.get(name)
  if (!file) throw new Error(`there is no public file ${name}`)
  return `${base}/public/${name}?v=${file.digest}`
}
