import { shorten } from '../../schemas/shorten.ts'
import type { BuyerFault, BuyerFaultCode } from '../buyer-document.ts'
import { locationOf, type XmlElement } from '../xml-element.ts'
import type { Secrets } from './secrets.ts'

const maxFaults = 100

/** Where in an element a fault is. */
export interface FaultPlace {
  readonly attribute?: string
  /** The buyer's number of the line. */
  readonly item?: string
}

export interface Faults {
  /** Faults over the limit are dropped. */
  add(code: BuyerFaultCode, element: XmlElement, detail: string, place?: FaultPlace): void
  readonly list: readonly BuyerFault[]
}

export function makeFaults({ maskValue }: Pick<Secrets, 'maskValue'>): Faults {
  const list: BuyerFault[] = []
  return {
    list,
    add(code, element, detail, { attribute, item } = {}) {
      if (list.length >= maxFaults) return
      const { line, path } = locationOf(element)
      const full = attribute === undefined ? path : `${path}/@${attribute}`
      list.push({ code, detail, line, path: maskValue(full), ...(item === undefined ? {} : { item: shorten(item) }) })
    }
  }
}
