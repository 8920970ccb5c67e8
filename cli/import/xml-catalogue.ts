import { SaxesParser } from 'saxes'
import type { Element } from '../../schemas/element.ts'
import { countLineFeeds } from '../../schemas/line-feeds.ts'
import type { XmlGate } from '../../xml/gate.ts'
import type { CatalogueDocument } from './catalogue-document.ts'
import type { Entry } from './entry.ts'

/**
 * Puts products into one XML catalogue, each starting on a new line.
 * @throws Problem when one of them is not well-formed or the XML guard refuses it
 */
export function catalogueOfXml(entries: readonly Entry[], gate: XmlGate): CatalogueDocument {
  const source = `<catalogue>\n${entries.map(({ xml }) => xml).join('\n')}\n</catalogue>`
  const firstLines: number[] = []
  let next = 2
  for (const { xml = '' } of entries) {
    firstLines.push(next)
    next += 1 + countLineFeeds(xml)
  }
  const toFile = (line: number) => {
    const index = Math.max(0, findLast(firstLines, line))
    return { index, line: (entries[index]?.line ?? 1) + line - (firstLines[index] ?? line) }
  }
  return {
    parsed: gate.parse(Buffer.from(source)),
    roots: () => readElements(source),
    trace: ({ detail, line = 1 }) => {
      const place = toFile(line)
      return { index: place.index, fault: { detail, line: place.line } }
    },
    locate: ({ origin }) => ({ line: toFile(Number(origin)).line })
  }
}

/** The index of the last number that is not above the value. The numbers are sorted. */
function findLast(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

type OpenElement = { name: string; attributes?: Record<string, string>; children: Element[]; text: string; line: string }

/**
 * Reads the children of a well-formed document's root element. The origin of each element is its line. It gives the same
 * elements as `readXml`, four times as fast.
 */
export function readElements(source: string): readonly Element[] {
  const parser = new SaxesParser({ position: true, xmlns: false })
  const open: OpenElement[] = [{ name: '', children: [], text: '', line: '' }]
  parser.on('opentagstart', ({ name }) => open.push({ name, children: [], text: '', line: String(parser.line) }))
  parser.on('opentag', ({ attributes }) => {
    const current = open.at(-1)
    for (const _ in attributes) {
      if (current) current.attributes = attributes
      break
    }
  })
  const append = (text: string) => {
    const current = open.at(-1)
    if (current) current.text += text
  }
  parser.on('text', append)
  parser.on('cdata', append)
  parser.on('closetag', () => {
    const closed = open.pop()
    if (closed) open.at(-1)?.children.push(close(closed))
  })
  parser.write(source).close()
  return open[0]?.children[0]?.children ?? []
}

function close({ name, attributes, children, text, line }: OpenElement): Element {
  return { name, ...(attributes ? { attributes } : {}), ...(children.length > 0 ? { children } : { text }), origin: line }
}
