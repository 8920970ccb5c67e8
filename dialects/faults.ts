import { mostFaults } from '../domain/errors.ts'
import type { FaultCode } from '../domain/fault-codes.ts'
import type { Objections } from '../domain/order.ts'
import { shorten } from '../schemas/shorten.ts'
import type { BuyerFault } from './buyer-document.ts'
import { locationOf, type XmlElement } from './xml-element.ts'

/** The place of a fault in an element. */
export interface FaultPlace {
  readonly attribute?: string
  /** The sender's number of the line that the element is in. */
  readonly item?: string | undefined
}

/** The faults of a document, each once per place. */
export class FaultList {
  readonly #faults: { readonly start: number; readonly fault: BuyerFault }[] = []
  readonly #places = new Map<XmlElement, Set<string>>()
  readonly #maskPath: (path: string) => string

  /** @param maskPath masks the secrets of the document in a path: names can repeat them */
  constructor(maskPath: (path: string) => string = (path) => path) {
    this.#maskPath = maskPath
  }

  /** In the order of the document. */
  get all(): readonly BuyerFault[] {
    return this.#faults.toSorted((a, b) => a.start - b.start).map(({ fault }) => fault)
  }

  add(code: FaultCode, at: XmlElement, detail: string, { attribute, item }: FaultPlace = {}): void {
    const details = this.#places.get(at) ?? new Set()
    if (this.#faults.length >= mostFaults || details.has(detail)) return
    this.#places.set(at, details.add(detail))
    const { line, path } = locationOf(at, attribute)
    const fault = { code, detail, line, path: this.#maskPath(path), ...(item === undefined ? {} : { item: shorten(item) }) }
    this.#faults.push({ start: at.tag.start, fault })
  }
}

/** Codes of faults that the shop could accept but refuses. Every other fault makes a document invalid. */
const refusedCodes: ReadonlySet<FaultCode> = new Set(['allowance-not-agreed'])

export function objectionsOf(faults: readonly BuyerFault[]): Objections {
  return {
    invalid: faults.filter(({ code }) => !refusedCodes.has(code)),
    refused: faults.filter(({ code }) => refusedCodes.has(code))
  }
}
