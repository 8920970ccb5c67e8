import { createWriteStream, fstatSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { StockedProduct } from '../domain/store.ts'
import { type CatalogueFormat, exportedElement, exportFormats } from '../representations/catalogue.ts'
import { diskReason } from '../stores/disk.ts'
import { writeWhole } from '../stores/whole-file.ts'
import { type Command, Failure, readArguments, withExistingStore } from './command.ts'
import { formatOf } from './import/source.ts'

export const exportCommand: Command = {
  name: 'export',
  synopsis: '[FILE] [--format xml|csv|ndjson]',
  about: 'write the whole catalogue, with stock, to a file',
  help: `Importing the file into an empty database makes the same catalogue. The service may run meanwhile: if a product changes
while the file is written, the file has either its old or its new state.

  FILE           the file to write; without it, or with -, standard output. An existing file is replaced when the new
                 one is complete
  --format F     xml, csv or ndjson; by default the extension decides (.xml, .csv, .ndjson or .jsonl), and standard
                 output gets xml`,

  async run(args) {
    const { values, operands } = readArguments(args, { format: { type: 'string' } }, ['[FILE]'])
    const file = operands[0] === '-' ? undefined : operands[0]
    const format = formatOf(values.format, file)
    await withExistingStore((store) => {
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

/** Writes to standard output. A file gets a stream of its own, because process.stdout does not notice a write that a full disk cuts short. */
async function print(text: Readable): Promise<void> {
  if (!fstatSync(process.stdout.fd).isFile()) return pipeline(text, process.stdout, { end: false })
  try {
    await pipeline(text, createWriteStream('', { fd: process.stdout.fd, autoClose: false }))
  } catch (error) {
    throw unwritable('standard output', error)
  }
}

/** Adds the file's name to an error of the disk. Any other error stays as it is. */
function unwritable(file: string, error: unknown): unknown {
  const reason = diskReason(error)
  return reason === undefined ? error : new Failure(`${file} cannot be written: ${reason}`)
}

/** Readers of the file find either the old one or the complete new one. */
async function replaceFile(file: string, text: Readable): Promise<void> {
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    const mode = await modeOf(file)
    await writeWhole(file, (partial) => pipeline(text, createWriteStream(partial, { flags: 'wx', mode }), { signal: interruption.signal }))
  } catch (error) {
    if (interruption.signal.aborted) throw new Failure('interrupted: the file was not changed')
    throw unwritable(file, error)
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt)
  }
}

/** The new file has the permissions of the file that it replaces; otherwise the umask decides. */
async function modeOf(file: string): Promise<number> {
  const before = await stat(file).catch(() => undefined)
  return before === undefined ? 0o666 : before.mode & 0o777
}
