import type { LocatedFault } from '../../schemas/document.ts'
import type { Element, Place } from '../../schemas/element.ts'
import type { Guarded } from '../../xml/guard.ts'
import type { Spell } from '../../xml/messages.ts'

/** Several entries as one catalogue document. */
export interface CatalogueDocument {
  readonly parsed: Guarded
  /** How the faults write the names of elements; by default as tags. */
  readonly spell?: Spell
  /** The products of the catalogue, in the order of the entries. Each is usable only if the schema found no fault in it. */
  readonly roots: () => readonly Element[]
  /** Finds the entry of a fault, by index, and the place of the fault in the file. */
  readonly trace: (fault: LocatedFault) => { readonly index: number; readonly fault: LocatedFault }
  /** Finds the place of an element in the file. @param index of its root @param at from the root */
  readonly locate: (index: number, at: Place) => { readonly line?: number; readonly path?: string }
}
