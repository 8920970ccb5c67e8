/** An element, as its start tag describes it. */
export interface Tag {
  readonly name: string
  readonly parent: Tag | undefined
  /** 1-based position among the siblings of the same name. */
  readonly nth: number
  /** 1-based line of the tag's `<`. */
  readonly line: number
  /** The offset of the tag's `<`. */
  readonly start: number
  /** The offset of the `>` or `/>` that ends the start tag. */
  readonly end: number
  /** The offset after the whole element. */
  readonly after: number
  /** The markup items from the start of the document to the end of this tag: see `Limits.marks`. */
  readonly marks: number
  /** The number of children of each name. */
  readonly counts: ReadonlyMap<string, number>
}

/** These limits bound the time and memory of the parsers behind the guard. Lengths are in UTF-16 code units. */
export interface Limits {
  /** The number of markup items: elements, attributes, comments, CDATA sections and processing instructions. */
  readonly marks: number
  /** The length of a tag. It bounds the attributes, whose names libxml2 compares in pairs (quadratic time). */
  readonly tag: number
  /** The length of one text, comment, CDATA section or processing instruction. */
  readonly text: number
  readonly depth: number
  /** The number of names with a namespace prefix, declarations included. libxml2 searches all declarations in scope at every element. */
  readonly prefixes: number
  /** The number of namespace declarations in scope of one element. libxml2 compares each prefixed name with all of them. */
  readonly declarations: number
  /** The local names of elements whose text may be longer than `text`, such as embedded files. */
  readonly longTexts?: ReadonlySet<string>
}

const none = Number.POSITIVE_INFINITY

/** For documents that this service wrote or has accepted before, and for files of the operator. */
export const noLimits: Limits = { marks: none, tag: none, text: none, depth: none, prefixes: none, declarations: none }
