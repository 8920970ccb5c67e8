import type { LocatedFault } from '../../schemas/document.ts'
import type { ElementType, Vocabulary } from '../../schemas/vocabulary.ts'
import { type EngineError, isOfContent, isOfPosition } from './engine.ts'
import { excerpt, lineage, pathOf } from './locations.ts'
import { explain, explainUnknown, type Spell } from './messages.ts'
import type { Tag } from './tag.ts'

export const maxErrors = 100

/** How much markup is judged at first, and how much more of it at a time: what can be wrong with it takes below half a second. */
const firstMarks = 10_000
const growth = 1.6

/** libxml2 2.9.9 keeps 16 bits of a line, and a line tells the element. */
const maxLines = 60_000

/** How often misplaced elements are taken out to see what is behind them. */
const maxRounds = 10

/** Whether all the errors that a document could have are few enough to ask for at once. */
export function isSmall(tags: readonly Tag[]): boolean {
  return (tags.at(-1)?.marks ?? 0) <= firstMarks
}

interface Document {
  readonly source: string
  readonly tags: readonly Tag[]
}

interface Contract {
  readonly vocabulary: Vocabulary
  readonly roots: readonly string[]
  readonly spell: Spell
  /** What libxml2 has against the text of a document. */
  judge(xml: string): readonly EngineError[]
}

/**
 * What a schema has against a document, 100 errors at most, deduplicated, in document order. libxml2 stops at the first
 * element of a parent that it does not expect, and tells every other error at a cost; so unknown elements are named here
 * and left out, a misplaced one is left out once it is named, and a long document is judged by a part that grows until it
 * has 100 errors, or is the whole.
 */
export function faultsOf(document: Document, contract: Contract): LocatedFault[] {
  const search = new Search(document, contract)
  search.nameUnknown()
  for (let from = 0; from < document.tags.length && !search.isFull; ) from = search.judgeFrom(from)
  return search.found()
}

class Search {
  readonly #document: Document
  readonly #contract: Contract
  /** The type of each element that the vocabulary knows where it stands. */
  readonly #types = new Map<Tag, ElementType>()
  readonly #found = new Map<string, { readonly tag: Tag; readonly detail: string }>()
  readonly #left = new Set<Tag>()
  /** Elements whose content is no longer all there: what is said of it may not hold. */
  readonly #lacking = new Set<Tag>()

  constructor(document: Document, contract: Contract) {
    this.#document = document
    this.#contract = contract
    for (const tag of document.tags) {
      const { parent, name } = tag
      const around = parent && this.#types.get(parent)
      const type = parent ? around?.children.find((child) => child.name === name) : contract.vocabulary.get(name)
      if (type) this.#types.set(tag, type)
    }
  }

  get isFull(): boolean {
    return this.#found.size >= maxErrors
  }

  #add(tag: Tag, detail: string): void {
    if (!this.isFull) this.#found.set(`${tag.start} ${detail}`, { tag, detail })
  }

  nameUnknown(): void {
    for (const tag of this.#document.tags) {
      if (this.isFull) return
      const { parent } = tag
      const around = parent && this.#types.get(parent)
      if (!around || this.#types.has(tag)) continue
      this.#add(around.text ? parent : tag, explainUnknown(tag, parent, around, this.#contract.spell))
      this.#left.add(tag)
      if (around.text) this.#lacking.add(parent)
    }
  }

  /** Judges the document up to some way behind element `from`; gives the element it stopped at. */
  judgeFrom(from: number): number {
    const { source, tags } = this.#document
    const to = this.#cutAfter(from)
    const cut = new Set(lineage(tags[to]?.parent))
    for (let round = 0; round < maxRounds && !this.isFull; round++) {
      const before = this.#left.size
      const { xml, tagAt } = excerpt(source, tags, from, to, this.#left)
      for (const error of this.#contract.judge(xml)) {
        const tag = tagAt(error.line ?? 0)
        // No tag: it was told with an earlier part. Content that is cut off is told with a later part.
        if (tag && !(isOfContent(error) && (cut.has(tag) || this.#lacking.has(tag)))) this.#tell(error, tag)
      }
      if (this.#left.size === before) break
    }
    return to
  }

  #tell(error: EngineError, tag: Tag): void {
    const { roots, spell } = this.#contract
    this.#add(tag, explain(error, tag, this.#types.get(tag), roots, spell))
    if (!isOfPosition(error) || !tag.parent) return
    this.#left.add(tag)
    this.#lacking.add(tag.parent)
  }

  #cutAfter(from: number): number {
    const { tags } = this.#document
    const wanted = Math.max(firstMarks, (tags[from - 1]?.marks ?? 0) * growth)
    const cut = tags.findIndex(({ marks }, i) => i > from && (marks > wanted || i - from > maxLines))
    return cut < 0 ? tags.length : cut
  }

  found(): LocatedFault[] {
    const inOrder = [...this.#found.values()].sort((a, b) => a.tag.start - b.tag.start)
    return inOrder.map(({ tag, detail }) => ({ detail, line: tag.line, path: pathOf(tag) }))
  }
}
