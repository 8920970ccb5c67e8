import { countLineFeeds } from '../../schemas/line-feeds.ts'
import { readXml } from '../../schemas/xml.ts'
import type { XmlGate } from '../../xml/gate.ts'
import { placeIn } from '../../xml/locations.ts'
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
  const parsed = gate.parse(Buffer.from(source))
  const { tags } = parsed
  return {
    parsed,
    roots: () => readXml(source).children ?? [],
    trace: ({ detail, line = 1 }) => {
      const place = toFile(line)
      return { index: place.index, fault: { detail, line: place.line } }
    },
    locate: (index, at) => {
      const root = tags.filter(({ parent }) => parent === tags[0])[index]
      const tag = root && placeIn(tags, [root.name, root.nth, ...at])
      return tag ? { line: toFile(tag.line).line } : {}
    }
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
