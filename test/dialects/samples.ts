import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Documents of real buyers, with what should become of each, and the official schemas. They are not in this repository. */
const folder = process.env['DIALECTS'] ?? fileURLToPath(new URL('../../../shared/dialects', import.meta.url))

export interface Sample {
  readonly name: string
  readonly dialect: string
  /** The document's root. */
  readonly document: string
  /** `place`, `change`, `cancel`, `model`, or `refuse:` and the reason. */
  readonly expect: string
  /** What is special about the document, in words. */
  readonly special: string
  readonly bytes: Buffer
}

/** Every sample. Undefined where the folder is not. */
export function samples(): readonly Sample[] | undefined {
  const index = join(folder, 'index.tsv')
  if (!existsSync(index)) return undefined
  const rows = readFileSync(index, 'utf8').trim().split(/\r?\n/).slice(1)
  return rows
    .map((row) => row.split('\t'))
    .map(([dialect = '', document = '', expect = '', name = '', , , , special = '']) => {
      return { dialect, document, expect, name, special, bytes: readFileSync(join(folder, 'documents', name)) }
    })
}

/** The samples of UBL. */
export function ublSamples(): readonly Sample[] | undefined {
  return samples()?.filter(({ dialect }) => !dialect.startsWith('cxml'))
}

/** The path of an XSD or a DTD, such as `ubl-2.1/maindoc/UBL-OrderResponse-2.1.xsd`. Undefined where it is not. */
export function officialSchema(name: string): string | undefined {
  const path = join(folder, 'schemas', name)
  return existsSync(path) ? path : undefined
}
