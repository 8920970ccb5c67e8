import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'

export interface PublicFile {
  readonly bytes: Buffer
  readonly contentType: string
  /** A digest of the bytes: the entity tag, and what a page names so that the file may be kept for good. */
  readonly digest: string
}

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8'
}

const folder = new URL('../public/', import.meta.url)

/** What pages load, read once at start: a name that is not in here is no file, so that no request ever names a path. */
export const publicFiles: ReadonlyMap<string, PublicFile> = new Map(
  readdirSync(folder).flatMap((name): [string, PublicFile][] => {
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined) return []
    const bytes = readFileSync(new URL(name, folder))
    return [[name, { bytes, contentType, digest: createHash('sha256').update(bytes).digest('hex').slice(0, 16) }]]
  })
)

/** The path of a public file as a page links it. */
export function publicPath(base: string, name: string): string {
  const file = publicFiles.get(name)
  if (!file) throw new Error(`there is no public file ${name}`)
  return `${base}/public/${name}?v=${file.digest}`
}
