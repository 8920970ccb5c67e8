import { countLineFeeds } from '../../schemas/line-feeds.ts'
import { Failure } from '../command.ts'

/**
 * Decodes UTF-8 without its byte order mark.
 * @throws Failure with the line if the text is not UTF-8
 */
export async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  for await (const chunk of bytes) {
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
