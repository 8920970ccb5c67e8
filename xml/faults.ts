import { mostFaults } from '../domain/errors.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { ElementType, Vocabulary } from '../schemas/vocabulary.ts'
import { inDefaultNamespace, writtenAttribute } from './attributes.ts'
import { type EngineError, isContentError } from './engine.ts'
import type { Guarded } from './guard.ts'
import { type Excerpt, excerpt, pathOf } from './locations.ts'
import { explain, explainMissing, explainNamespace, explainPosition, explainUnknown, type Spell } from './messages.ts'
import { Sequence } from './positions.ts'
import type { Tag } from './tag.ts'

/**
 * The size of the parts in which a document is validated, in markup items (see `Limits.marks`). Validating one part takes less than half a
 * second, however many errors it has. Lines identify the elements of a part, and libxml2 2.9.9 keeps only 16 bits of a line number.
 */
const partMarks = 10_000

/** Whether the whole document can be validated at once, because it cannot have too many errors. */
export function isSmall(tags: readonly Tag[]): boolean {
  return (tags.at(-1)?.marks ?? 0) <= partMarks
}

interface Contract {
  readonly vocabulary: Vocabulary
  readonly roots: readonly string[]
  readonly spell: Spell
  /** Validates the values of a document with libxml2, wherever its elements are and whatever is missing. @returns its errors */
  validateValues(xml: string): readonly EngineError[]
}

/**
 * The first 100 schema errors of a document, deduplicated, in document order.
 *
 * libxml2 stops at the first unexpected child of an element, and each error that it reports takes time. So the positions of the elements
 * are checked here, and libxml2 validates the values, one part of the document after the other, until 100 errors are found or the
 * document ends. No part is read twice, so the search takes no longer than validating a document of that size that has no errors.
 */
export function faultsOf(document: Guarded, contract: Contract): LocatedFault[] {
  const search = new Search(document, contract)
  for (let from = 0; from < document.tags.length && !search.isFull; ) from = search.validateFrom(from)
  return search.found()
}

interface Found {
  readonly tag: Tag
  readonly detail: string
}

/** An element whose content has begun and has not ended. */
interface Open {
  readonly tag: Tag
  readonly type: ElementType
  /** The position in its content model, after the children seen so far. */
  readonly sequence: Sequence
  /** Whether it or an element around it is misplaced. */
  readonly isMisplaced: boolean
}

class Search {
  readonly #document: Guarded
  readonly #contract: Contract
  /** The types of the elements that the vocabulary has at their position. */
  readonly #types = new Map<Tag, ElementType>()
  readonly #foreign: ReadonlySet<Tag>
  /** The innermost one is the last. */
  readonly #open: Open[] = []
  readonly #found = new Map<string, Found>()
  /** Elements that lack others. Their own faults are listed first. */
  readonly #missing: Found[] = []
  /** Unknown elements, which libxml2 does not see, in document order. */
  readonly #removed = new Set<Tag>()
  /** Elements with misplaced or removed content. Other errors of their content may be consequences of that. */
  readonly #incomplete = new Set<Tag>()

  constructor(document: Guarded, contract: Contract) {
    this.#document = document
    this.#contract = contract
    this.#foreign = inDefaultNamespace(document.source, document.tags)
    for (const tag of document.tags) {
      const { parent, name } = tag
      if (this.#foreign.has(tag)) continue
      const parentType = parent && this.#types.get(parent)
      const type = parent ? parentType?.children.find((child) => child.name === name) : contract.vocabulary.get(name)
      if (type) this.#types.set(tag, type)
    }
  }

  get isFull(): boolean {
    return this.#found.size + this.#missing.length >= mostFaults
  }

  #add(tag: Tag, detail: string): void {
    this.#found.set(`${tag.start} ${detail}`, { tag, detail })
  }

  /** Finds misplaced and missing elements. @returns the index that it stopped at: `to`, or less once there are enough errors */
  #checkContents(from: number, to: number): number {
    const { tags } = this.#document
    for (let i = from; i < to; i++) {
      const tag = tags[i]
      if (tag) this.#checkContent(tag)
      if (this.isFull) return i + 1
    }
    if (to === tags.length) this.#endContentsBefore(Number.POSITIVE_INFINITY)
    return to
  }

  #checkContent(tag: Tag): void {
    this.#endContentsBefore(tag.start)
    const around = this.#open.at(-1)
    const isMisplaced = around !== undefined && around.tag === tag.parent && !this.#isAtItsPosition(tag, around)
    const type = this.#types.get(tag)
    if (type)
      this.#open.push({ tag, type, sequence: new Sequence(type, tag.counts), isMisplaced: isMisplaced || around?.isMisplaced === true })
  }

  /** Reports an element that is misplaced or unknown. */
  #isAtItsPosition(tag: Tag, { tag: parent, type: parentType, sequence }: Open): boolean {
    const { name } = tag
    const { spell } = this.#contract
    const type = parentType.children.find((child) => child.name === name)
    const isForeign = this.#foreign.has(tag)
    if (type && !isForeign && sequence.accept(name)) return true
    if (!type) this.#add(parentType.text ? parent : tag, explainUnknown(tag, parent, parentType, spell))
    else if (isForeign) this.#add(tag, explainNamespace(name, spell))
    else this.#add(tag, explainPosition(tag, sequence, type, spell))
    if (!type || isForeign) this.#removed.add(tag)
    if (type || parentType.text) this.#incomplete.add(parent)
    return false
  }

  /** Reports what is missing in the elements that end before an offset. */
  #endContentsBefore(offset: number): void {
    for (let ended = this.#open.at(-1); ended && ended.tag.after <= offset; ended = this.#open.at(-1)) {
      this.#open.pop()
      const missing = ended.isMisplaced ? [] : ended.sequence.missing()
      if (missing.length > 0) this.#missing.push({ tag: ended.tag, detail: explainMissing(ended.tag, missing, this.#contract.spell) })
    }
  }

  /** Validates the next part of the document, from element `from` on. @returns the index of the element that it stopped at */
  validateFrom(from: number): number {
    const { source, tags } = this.#document
    const to = this.#checkContents(from, this.#endOfPart(from))
    this.#report(excerpt(source, tags, from, to, this.#removed))
    return to
  }

  /** Adds the errors that libxml2 finds in a part of the document. */
  #report({ xml, tagAt }: Excerpt): void {
    const enough = this.#found.size + mostFaults
    for (const error of this.#contract.validateValues(xml)) {
      if (this.#found.size >= enough) break
      const tag = tagAt(error.line ?? 0)
      if (tag && !(isContentError(error) && this.#incomplete.has(tag))) this.#explain(error, tag)
    }
  }

  #explain(error: EngineError, tag: Tag): void {
    const { roots, spell } = this.#contract
    const written = (attribute: string) => writtenAttribute(this.#document.source, tag, attribute)
    this.#add(tag, explain(error, tag, { type: this.#types.get(tag), roots, spell, written }))
  }

  /** @returns the index of the element at which the part that starts with `from` ends */
  #endOfPart(from: number): number {
    const { tags } = this.#document
    const most = (tags[from - 1]?.marks ?? 0) + partMarks
    for (let i = from + 1; i < tags.length; i++) if ((tags[i]?.marks ?? 0) > most) return i
    return tags.length
  }

  found(): LocatedFault[] {
    const inOrder = [...this.#found.values(), ...this.#missing].sort((a, b) => a.tag.start - b.tag.start).slice(0, mostFaults)
    return inOrder.map(({ tag, detail }) => ({ detail, line: tag.line, path: pathOf(tag) }))
  }
}
