import { open } from 'node:fs/promises'
import { extname } from 'node:path'
import { productXsd } from '../../schemas/product.ts'
import { diskReason } from '../../stores/disk.ts'
import { makeXmlGate } from '../../xml/gate.ts'
import { Failure, UsageError } from '../command.ts'
import { csvEntries } from './csv-entries.ts'
import type { Entry } from './entry.ts'
import { ndjsonEntries } from './ndjson-entries.ts'
import { decode } from './text.ts'
import { xmlEntries } from './xml-entries.ts'

const formats = ['xml', 'csv', 'ndjson'] as const
export type Format = (typeof formats)[number]

/** By the end of a file's name. */
const extensions: Readonly<Record<string, Format>> = { '.xml': 'xml', '.csv': 'csv', '.ndjson': 'ndjson', '.jsonl': 'ndjson' }

/**
 * The format by its name, or else by the extension of the file.
 * @param file undefined for standard output, which is XML by default, and - for standard input, which has no default
 * @throws UsageError if no format has the name, or there is none and no default
 */
export function formatOf(named: string | undefined, file: string | undefined): Format {
  if (named !== undefined) {
    const format = formats.find((one) => one === named)
    if (!format) throw new UsageError(`there is no format ${JSON.stringify(named)}: use ${formats.join(', ')}`)
    return format
  }
  if (file === undefined) return 'xml'
  if (file === '-') throw new UsageError(`standard input needs --format ${alternatives(formats)}`)
  const format = extensions[extname(file).toLowerCase()]
  if (!format) {
    const ends = alternatives(Object.keys(extensions))
    throw new UsageError(`the name ${JSON.stringify(file)} does not end with ${ends}: say with --format what is in the file`)
  }
  return format
}

/** Names of which one is to be chosen: `xml, csv or ndjson`. */
function alternatives(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names)
}

export interface Source {
  /** The name of the source in messages. */
  readonly name: string
  /** The size in bytes, if it is known. */
  readonly size: number | undefined
  readonly bytes: AsyncIterable<Buffer>
  close(): Promise<void>
}

/** Opens a file before it is streamed. A stream could report the error before there is a listener. @throws Failure */
export async function openSource(file: string): Promise<Source> {
  if (file === '-') return { name: 'standard input', size: undefined, bytes: process.stdin, close: () => Promise.resolve() }
  try {
    const handle = await open(file)
    const stats = await handle.stat()
    if (!stats.isDirectory()) {
      const size = stats.size === 0 ? undefined : stats.size
      return { name: file, size, bytes: handle.createReadStream({ autoClose: false }), close: () => handle.close() }
    }
    await handle.close()
    throw new Failure(`${file} cannot be read: it is a folder; name a file in it`)
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`${file} cannot be read: ${readReason(error)}`)
  }
}

function readReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT') return 'there is no such file; check its name and its folder'
  if (code === 'ENXIO') return 'it is a socket, not a file'
  return diskReason(error) ?? String(error)
}

/** Reads the products of a file. Only a part of it is in memory at a time. */
export function readEntries(bytes: AsyncIterable<Buffer>, format: Format): AsyncIterable<readonly Entry[]> {
  const text = decode(bytes)
  if (format === 'csv') return csvEntries(text)
  return format === 'xml' ? xmlEntries(text, checkProlog) : ndjsonEntries(text)
}

function checkProlog(prolog: string): void {
  const gate = makeXmlGate()
  const [fault] = gate.validate(gate.parse(Buffer.from(prolog)), productXsd, ['catalogue'])
  if (fault) throw new Failure(`line ${fault.line}: ${fault.detail}`)
}
