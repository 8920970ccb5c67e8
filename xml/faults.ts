import type { LocatedFault } from '../schemas/document.ts'
import type { ElementType, Vocabulary } from '../schemas/vocabulary.ts'
import { inDefaultNamespace, writtenAttribute } from './attributes.ts'
import { type EngineError, isOfContent } from './engine.ts'
import { excerpt, lineage, pathOf } from './locations.ts'
import { explain, explainNamespace, explainPosition, explainUnknown, type Spell } from './messages.ts'
import { Sequence } from './positions.ts'
import type { Tag } from './tag.ts'

export const maxErrors = 100

/** How much markup is judged at first, and how much more of it at a time: what can be wrong with it takes below half a second. */
const firstMarks = 10_000
const growth = 1.6

/** libxml2 2.9.9 keeps 16 bits of a line, and a line tells the element. */
const maxLines = 60_000

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
 * What a schema has against a document: the first 100 errors, deduplicated, in document order. libxml2 stops at the first
 * child of an element that it does not expect, and tells every other error at a cost. So elements that cannot stand where
 * they are get named here and left out of what libxml2 judges, and a long document is judged by a part that grows until it
 * has 100 errors, or is the whole: each part once.
 */
export function faultsOf(document: Document, contract: Contract): LocatedFault[] {
  const search = new Search(document, contract)
  for (let from = 0; from < document.tags.length && !search.isFull; ) from = search.judgeFrom(from)
  return search.found()
}

class Search {
  readonly #document: Document
  readonly #contract: Contract
  /** The type of each element that the vocabulary knows where it stands. */
  readonly #types = new Map<Tag, ElementType>()
  readonly #foreign: ReadonlySet<Tag>
  /** How far the children of an element have come. */
  readonly #sequences = new Map<Tag, Sequence>()
  readonly #found = new Map<string, { readonly tag: Tag; readonly detail: string }>()
  readonly #left = new Set<Tag>()
  /** Elements whose content is no longer all there: what is said of it may not hold. */
  readonly #lacking = new Set<Tag>()

  constructor(document: Document, contract: Contract) {
    this.#document = document
    this.#contract = contract
    this.#foreign = inDefaultNamespace(document.source, document.tags)
    for (const tag of document.tags) {
      const { parent, name } = tag
      if (this.#foreign.has(tag)) continue
      const around = parent && this.#types.get(parent)
      const type = parent ? around?.children.find((child) => child.name === name) : contract.vocabulary.get(name)
      if (type) this.#types.set(tag, type)
    }
  }

  get isFull(): boolean {
    return this.#found.size >= maxErrors
  }

  #add(tag: Tag, detail: string): void {
    this.#found.set(`${tag.start} ${detail}`, { tag, detail })
  }

  /** Names what cannot stand where it is; gives the element it stopped at, once there are enough errors. */
  #placeFrom(from: number, to: number): number {
    const { tags } = this.#document
    for (let i = from; i < to; i++) {
      const tag = tags[i]
      if (tag) this.#place(tag)
      if (this.isFull) return i + 1
    }
    return to
  }

  #place(tag: Tag): void {
    const { parent, name } = tag
    const around = parent && this.#types.get(parent)
    if (!around) return
    const { spell } = this.#contract
    const type = around.children.find((child) => child.name === name)
    const sequence = this.#sequences.get(parent) ?? new Sequence(around)
    this.#sequences.set(parent, sequence)
    if (!type) this.#add(around.text ? parent : tag, explainUnknown(tag, parent, around, spell))
    else if (this.#foreign.has(tag)) this.#add(tag, explainNamespace(name, spell))
    else if (sequence.accept(name)) return
    else this.#add(tag, explainPosition(tag, sequence.expected(), type, spell))
    this.#left.add(tag)
    if (type || around.text) this.#lacking.add(parent)
  }

  /** Judges the document up to some way behind element `from`; gives the element it stopped at. */
  judgeFrom(from: number): number {
    const { source, tags } = this.#document
    const to = this.#placeFrom(from, this.#cutAfter(from))
    const cut = new Set(lineage(tags[to]?.parent))
    const { xml, tagAt } = excerpt(source, tags, from, to, this.#left)
    const enough = this.#found.size + maxErrors
    for (const error of this.#contract.judge(xml)) {
      if (this.#found.size >= enough) break
      const tag = tagAt(error.line ?? 0)
      // No tag: it was told with an earlier part. Content that is cut off is told with a later part.
      if (tag && !(isOfContent(error) && (cut.has(tag) || this.#lacking.has(tag)))) this.#tell(error, tag)
    }
    return to
  }

  #tell(error: EngineError, tag: Tag): void {
    const { roots, spell } = this.#contract
    const written = (attribute: string) => writtenAttribute(this.#document.source, tag, attribute)
    this.#add(tag, explain(error, tag, { type: this.#types.get(tag), roots, spell, written }))
  }

  #cutAfter(from: number): number {
    const { tags } = this.#document
    const wanted = Math.max(firstMarks, (tags[from - 1]?.marks ?? 0) * growth)
    const cut = tags.findIndex(({ marks }, i) => i > from && (marks > wanted || i - from > maxLines))
    return cut < 0 ? tags.length : cut
  }

  found(): LocatedFault[] {
    const inOrder = [...this.#found.values()].sort((a, b) => a.tag.start - b.tag.start).slice(0, maxErrors)
    return inOrder.map(({ tag, detail }) => ({ detail, line: tag.line, path: pathOf(tag) }))
  }
}
