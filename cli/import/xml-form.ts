import { SaxesParser } from 'saxes'
import type { Element } from '../../schemas/element.ts'
import type { XmlGate } from '../../xml/gate.ts'
import type { Entry } from './entry.ts'
import type { Form } from './judge.ts'

/**
 * Products as they are written, one after the other on lines of their own, behind the guard.
 * @throws Problem when one is not well-formed
 */
export function showXml(entries: readonly Entry[], gate: XmlGate): Form {
  const source = `<catalogue>\n${entries.map(({ xml }) => xml).join('\n')}\n</catalogue>`
  const firstLines: number[] = []
  let next = 2
  for (const { xml = '' } of entries) {
    firstLines.push(next)
    next += 1 + countLines(xml)
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

function countLines(xml: string): number {
  let count = 0
  for (let at = xml.indexOf('\n'); at >= 0; at = xml.indexOf('\n', at + 1)) count++
  return count
}

/** The index of the last that is not above the value; they rise. */
function findLast(rising: readonly number[], value: number): number {
  let [low, high] = [0, rising.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rising[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}

type Open = { name: string; attributes?: Record<string, string>; children: Element[]; text: string; line: string }

/**
 * The children of a well-formed document's root, each element with its line as its origin. What `readXml` gives, at four
 * times its rate.
 */
export function readElements(source: string): readonly Element[] {
  const parser = new SaxesParser({ position: true, xmlns: false })
  const open: Open[] = [{ name: '', children: [], text: '', line: '' }]
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

function close({ name, attributes, children, text, line }: Open): Element {
  return { name, ...(attributes ? { attributes } : {}), ...(children.length > 0 ? { children } : { text }), origin: line }
}
