import { randomBytes } from 'node:crypto'
import { createWriteStream, fstatSync } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StockedProduct } from '../domain/store.ts'
import { type CatalogueFormat, exportedElement, exportFormats } from '../representations/catalogue.ts'
import { diskReason } from '../stores/disk.ts'
import { type Command, Failure, readArguments, UsageError, withStore } from './command.ts'
import { formatOf } from './import/source.ts'

export const exportCommand: Command = {
  name: 'export',
  synopsis: '[FILE] [--format xml|csv|ndjson]',
  about: 'write the whole catalogue, with stock, to a file',
  help: `An import of the file into an empty database makes the same catalogue. The service may run meanwhile: a product
that changes while the file is written is in it as it was or as it is then.

  FILE           without it, or with -, standard output. It is replaced when it is there, and only by a whole one
  --format F     by default by the extension: .xml, .csv, .ndjson or .jsonl; on standard output xml`,

  async run(args) {
    const { values, operands } = readArguments(args, { format: { type: 'string' } }, [0, 1])
    const file = operands[0] === '-' ? undefined : operands[0]
    const format = formatOf(values.format, file) ?? (file === undefined ? 'xml' : undefined)
    if (!format) throw new UsageError('--format is missing: the name of the file does not tell it')
    await withStore((store) => {
      const text = Readable.from(write(store.allProducts(), exportFormats[format]), { highWaterMark: 1 })
      return file === undefined ? print(text) : replaceFile(file, text)
    })
    return 0
  }
}

async function* write(batches: AsyncIterable<readonly StockedProduct[]>, { opening, write, closing }: CatalogueFormat) {
  yield opening
  for await (const batch of batches) yield write(batch.map(exportedElement))
  yield closing
}

/** A file's disk may take only a part of what is written to it, which process.stdout does not notice. */
async function print(text: Readable): Promise<void> {
  if (!fstatSync(process.stdout.fd).isFile()) return pipeline(text, process.stdout, { end: false })
  try {
    await pipeline(text, createWriteStream('', { fd: process.stdout.fd, autoClose: false }))
  } catch (error) {
    throw unwritable('standard output', error)
  }
}

/** Of an error that says why a file cannot be written, one that names it; any other as it is. */
function unwritable(file: string, error: unknown): unknown {
  const reason = diskReason(error)
  return reason === undefined ? error : new Failure(`${file} cannot be written: ${reason}`)
}

/** Writes beside the file first, so that whoever reads it meets the old one or the new one, whole and on disk. */
async function replaceFile(file: string, text: Readable): Promise<void> {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const mode = await modeOf(file)
    await pipeline(text, createWriteStream(partial, { flags: 'wx', flush: true, mode }), { signal: interruption.signal })
    await rename(partial, file)
    await sync(dirname(file))
  } catch (error) {
    await rm(partial, { force: true })
    if (interruption.signal.aborted) throw new Failure('interrupted; nothing was written')
    throw unwritable(file, error)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** Who may read the file that is replaced may read the new one, and nobody else; without one, as the umask has it. */
async function modeOf(file: string): Promise<number> {
  const before = await stat(file).catch(() => undefined)
  return before === undefined ? 0o666 : before.mode & 0o777
}

/** A name in a directory is on disk when the directory is. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
