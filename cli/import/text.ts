import { countLineFeeds } from '../../schemas/line-feeds.ts'
import { Failure } from '../command.ts'

/** How files of spreadsheets begin, in hexadecimal digits: a zip file, and Excel before 2007. */
const binary = ['504b0304', 'd0cf11e0']

/**
 * Decodes UTF-8 without its byte order mark.
 * @throws Failure if this is a spreadsheet; with the line if the text is not UTF-8
 */
export async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  let isFirst = true
  for await (const chunk of bytes) {
    if (isFirst && binary.includes(chunk.toString('hex', 0, 4)))
      throw new Failure('this is no text file: open it in the program that made it, such as Excel, and save it as CSV in UTF-8')
    isFirst = false
    const text = attempt(() => decoder.decode(chunk, { stream: true }), line)
    if (text !== '') yield text
    line += countLineFeeds(text)
  }
  attempt(() => decoder.decode(), line)
}

function attempt(decode: () => string, line: number): string {
  try {
    return decode()
  } catch {
    throw new Failure(`the text is not in UTF-8 at line ${line} or soon after it: convert the file first, for example with iconv`)
  }
}
