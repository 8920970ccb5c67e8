/** One element of a document, as its start tag shows it. */
export interface Tag {
  readonly name: string
  readonly parent: Tag | undefined
  /** 1-based, among the children of its parent that have its name. */
  readonly nth: number
  /** 1-based, of the tag's `<`. */
  readonly line: number
  /** The offset of the tag's `<`. */
  readonly start: number
  /** The offset of the `>` or `/>` that ends the start tag. */
  readonly end: number
  /** The offset behind the element. */
  readonly after: number
  /** How much markup there is up to its end: see `Limits.marks`. */
  readonly marks: number
  /** How many children it has of each name. */
  readonly counts: ReadonlyMap<string, number>
}

/** What bounds the time and memory that the parsers behind the guard take. Lengths are in UTF-16 code units. */
export interface Limits {
  /** Elements, attributes, comments, CDATA sections and processing instructions together. */
  readonly marks: number
  /** The length of a tag: bounds attributes, whose names libxml2 compares each with each. */
  readonly tag: number
  /** The length of one text, comment, CDATA section or processing instruction. */
  readonly text: number
  readonly depth: number
  /** Names with a namespace prefix, declarations included: libxml2 searches all that are in scope at every element. */
  readonly prefixes: number
}

const none = Number.POSITIVE_INFINITY

/** For what this service wrote itself. */
export const noLimits: Limits = { marks: none, tag: none, text: none, depth: none, prefixes: none }
