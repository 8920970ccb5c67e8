import type { LocatedFault } from '../../schemas/document.ts'
import type { Element } from '../../schemas/element.ts'
import type { TreeReading } from '../../schemas/tree.ts'

/** One product of a file, before validation. */
export interface Entry {
  /** The line where it starts, from 1. */
  readonly line: number
  /** The XML of the product, exactly as in the file. */
  readonly xml?: string
  /** The product as an element, if the file is not XML. Values that an element cannot hold are in the faults. */
  readonly root?: Element
  /** Whether the product is a row of a table, for whose faults there are no elements. */
  readonly isRow?: true
  /** Faults found so far. Without `xml` and `root` the product cannot be validated further. */
  readonly faults: readonly LocatedFault[]
}

/** The most characters that a product may have. A longer one is not kept in memory. */
export const maxEntryLength = 2 * 1024 * 1024

export const lineTooLong = `The line is longer than ${maxEntryLength} characters.`

/** Turns the element and the faults that a notation's reader found into an entry. */
export function readEntry(line: number, { root, faults }: TreeReading): Entry {
  return { line, root, faults: faults.map(({ detail, path }) => ({ detail, path, line })) }
}

export function unreadable(line: number, detail: string): Entry {
  return { line, faults: [{ detail, line }] }
}
