import libxmljs from 'libxmljs2'
import type { Test } from 'tap'

/** Calls a function before libxml2 parses a document, with its bytes. Schemas are parsed as strings, and do not count. */
export function watchParsed(t: Test, parses: (document: Buffer) => void): void {
  const { parseXml } = libxmljs
  t.intercept(libxmljs, 'parseXml', {
    value: (...given: Parameters<typeof parseXml>) => {
      if (Buffer.isBuffer(given[0])) parses(given[0])
      return parseXml(...given)
    }
  })
}
