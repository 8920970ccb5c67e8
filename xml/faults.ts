import { mostFaults } from '../domain/errors.ts'
import type { LocatedFault } from '../schemas/document.ts'
import type { ElementType, Vocabulary } from '../schemas/vocabulary.ts'
import { inDefaultNamespace, writtenAttribute } from './attributes.ts'
import { type EngineError, isContentError } from './engine.ts'
import type { Guarded } from './guard.ts'
import { type Excerpt, excerpt, lineage, pathOf } from './locations.ts'
import { explain, explainNamespace, explainPosition, explainUnknown, type Spell } from './messages.ts'
import { Sequence } from './positions.ts'
import type { Tag } from './tag.ts'

/**
 * The size of the first part of a document that is validated, in markup items (see `Limits.marks`), and the factor by
 * which each next part is larger. Validating one part takes less than half a second, however many errors it has.
 */
const firstMarks = 10_000
const growth = 1.6

/** Lines identify the elements, and libxml2 2.9.9 keeps only 16 bits of a line number. */
const maxLines = 60_000

/** Whether the whole document can be validated at once, because it cannot have too many errors. */
export function isSmall(tags: readonly Tag[]): boolean {
  return (tags.at(-1)?.marks ?? 0) <= firstMarks
}

interface Contract {
  readonly vocabulary: Vocabulary
  readonly roots: readonly string[]
  readonly spell: Spell
  /** Validates a document with libxml2. @returns its errors */
  validate(xml: string): readonly EngineError[]
  /** Validates the values of a document, wherever its elements are. @returns its errors */
  validateValues(xml: string): readonly EngineError[]
}

/**
 * The first 100 schema errors of a document, deduplicated, in document order.
 *
 * libxml2 stops at the first unexpected child of an element, and each error that it reports takes time. So misplaced
 * elements are found here and removed from what libxml2 validates. Their values are validated by themselves. A long document is
 * validated in parts, each part once, until 100 errors are found or the document ends.
 */
export function faultsOf(document: Guarded, contract: Contract): LocatedFault[] {
  const search = new Search(document, contract)
  for (let from = 0; from < document.tags.length && !search.isFull; ) from = search.validateFrom(from)
  return search.found()
}

class Search {
  readonly #document: Guarded
  readonly #contract: Contract
  /** The types of the elements that the vocabulary has at their position. */
  readonly #types = new Map<Tag, ElementType>()
  readonly #foreign: ReadonlySet<Tag>
  /** The position in each element's content model, after the children seen so far. */
  readonly #sequences = new Map<Tag, Sequence>()
  readonly #found = new Map<string, { readonly tag: Tag; readonly detail: string }>()
  /** Misplaced and unknown elements, which libxml2 does not see. */
  readonly #removed = new Set<Tag>()
  /** Those of them whose type is known. */
  readonly #misplaced = new Set<Tag>()
  /** Elements with removed content. libxml2's errors about their content may be wrong. */
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
    return this.#found.size >= mostFaults
  }

  #add(tag: Tag, detail: string): void {
    this.#found.set(`${tag.start} ${detail}`, { tag, detail })
  }

  /** Finds misplaced elements. @returns the index that it stopped at: `to`, or less once there are enough errors */
  #checkPositions(from: number, to: number): number {
    const { tags } = this.#document
    for (let i = from; i < to; i++) {
      const tag = tags[i]
      if (tag) this.#checkPosition(tag)
      if (this.isFull) return i + 1
    }
    return to
  }

  #checkPosition(tag: Tag): void {
    const { parent, name } = tag
    const parentType = parent && this.#types.get(parent)
    if (!parentType) return
    const { spell } = this.#contract
    const type = parentType.children.find((child) => child.name === name)
    const sequence = this.#sequences.get(parent) ?? new Sequence(parentType)
    this.#sequences.set(parent, sequence)
    if (!type) this.#add(parentType.text ? parent : tag, explainUnknown(tag, parent, parentType, spell))
    else if (this.#foreign.has(tag)) this.#add(tag, explainNamespace(name, spell))
    else if (sequence.accept(name)) return
    else {
      this.#add(tag, explainPosition(tag, sequence.expected(), type, spell))
      this.#misplaced.add(tag)
    }
    this.#removed.add(tag)
    if (type || parentType.text) this.#incomplete.add(parent)
  }

  /** Validates the next part of the document, from element `from` on. @returns the index of the element that it stopped at */
  validateFrom(from: number): number {
    const { source, tags } = this.#document
    const to = this.#checkPositions(from, this.#endOfPart(from))
    const unfinished = new Set(lineage(tags[to]?.parent))
    const { validate, validateValues } = this.#contract
    this.#report(validate, excerpt(source, tags, from, to, this.#removed), unfinished)
    const others = this.#allButMisplaced(from, to)
    if (others && !this.isFull) this.#report(validateValues, excerpt(source, tags, from, to, others), unfinished)
    return to
  }

  /**
   * The elements up to `to` that are left out so that only the values of misplaced elements are validated: all but these, their content
   * and their ancestors. Undefined if no element from `from` on is misplaced.
   */
  #allButMisplaced(from: number, to: number): ReadonlySet<Tag> | undefined {
    const { tags } = this.#document
    const misplaced = tags.slice(from, to).filter((tag) => this.#misplaced.has(tag))
    if (misplaced.length === 0) return undefined
    const ancestors = new Set(misplaced.flatMap(lineage))
    const inside = new Set<Tag | undefined>(misplaced)
    const others = new Set<Tag>()
    for (const tag of tags.slice(0, to)) {
      if (inside.has(tag.parent) && !this.#removed.has(tag)) inside.add(tag)
      else if (!inside.has(tag) && !ancestors.has(tag)) others.add(tag)
    }
    return others
  }

  /** Adds the errors that libxml2 finds in a part of the document. */
  #report(validate: Contract['validate'], { xml, tagAt }: Excerpt, unfinished: ReadonlySet<Tag>): void {
    const enough = this.#found.size + mostFaults
    for (const error of validate(xml)) {
      if (this.#found.size >= enough) break
      const tag = tagAt(error.line ?? 0)
      // Without a tag, the error was found with an earlier part. Content that continues after the cut comes with a later part.
      if (tag && !(isContentError(error) && (unfinished.has(tag) || this.#incomplete.has(tag)))) this.#explain(error, tag)
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
    const wanted = Math.max(firstMarks, (tags[from - 1]?.marks ?? 0) * growth)
    const cut = tags.findIndex(({ marks }, i) => i > from && (marks > wanted || i - from > maxLines))
    return cut < 0 ? tags.length : cut
  }

  found(): LocatedFault[] {
    const inOrder = [...this.#found.values()].sort((a, b) => a.tag.start - b.tag.start).slice(0, mostFaults)
    return inOrder.map(({ tag, detail }) => ({ detail, line: tag.line, path: pathOf(tag) }))
  }
}
