import { readJson } from '../../schemas/json.ts'
import { readJsonText } from '../../schemas/json-text.ts'
import { productXsd } from '../../schemas/product.ts'
import type { Tree } from '../../schemas/tree.ts'
import { rootType } from '../../schemas/vocabulary.ts'
import { type Entry, lineTooLong, maxEntryLength, readEntry, unreadable } from './entry.ts'

const type = rootType(productXsd, 'product')

/** Reads products from JSON, one per line. Empty lines are skipped. */
export async function* ndjsonEntries(chunks: AsyncIterable<string>): AsyncGenerator<readonly Entry[], void, undefined> {
  let rest = ''
  let line = 1
  let isTooLong = false

  function end(text: string): Entry[] {
    const entry = isTooLong ? unreadable(line, lineTooLong) : readLine(text, line)
    isTooLong = false
    line++
    return entry ? [entry] : []
  }

  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield lines.flatMap(end)
    if (rest.length > maxEntryLength) {
      isTooLong = true
      rest = ''
    }
  }
  if (rest !== '' || isTooLong) yield end(rest)
}

function readLine(text: string, line: number): Entry | undefined {
  if (text.trim() === '') return undefined
  let value: Tree
  try {
    value = readJsonText(text).value
  } catch (error) {
    return unreadable(line, `The JSON cannot be read: ${error instanceof Error ? error.message : 'It is malformed.'}`)
  }
  if (Array.isArray(value))
    return unreadable(line, 'The line is a list: write each product on a line of its own, as an object in braces, without the list.')
  return readEntry(line, readJson(value, type))
}
