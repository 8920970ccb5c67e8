import type { LocatedFault } from '../../schemas/document.ts'
import type { Element } from '../../schemas/element.ts'

/** One product of a file, as its notation has it, before the schema judges it. */
export interface Entry {
  /** 1-based, of where it begins. */
  readonly line: number
  /** As XML, exactly as in the file. */
  readonly xml?: string
  /** As an element, where the file is not XML; what the file said that the element cannot is in the faults. */
  readonly root?: Element
  /** What is wrong with it already. Without `xml` and `root` there is nothing more to judge. */
  readonly faults: readonly LocatedFault[]
}

/** The most characters that a product may be long: what is longer is not kept. */
export const longestEntry = 2 * 1024 * 1024

export function unreadable(line: number, detail: string): Entry {
  return { line, faults: [{ detail, line }] }
}
