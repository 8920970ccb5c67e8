import type { Fault } from '../domain/errors.ts'
import type { Element } from './element.ts'
import { shorten } from './shorten.ts'
import { type ElementType, isNumeric, type SimpleType } from './vocabulary.ts'
import { isXmlText } from './xml-characters.ts'

/** A number as it was written. A binary floating-point number would lose digits, and the difference of 1e3 and 1000. */
export class Numeral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A parsed JSON document or form, before its schema is applied. */
export type Tree = null | boolean | Numeral | string | readonly Tree[] | { readonly [name: string]: Tree }

/** The spelling of the XSD's names, and of places in a document, in a notation. */
export interface Naming {
  /** The member name of an element or attribute, for example `orderNumber` for `order-number`. */
  readonly member: (name: string) => string
  /** The place of a member (or of a 0-based position) under another place. The place of the root is ''. */
  readonly under: (place: string, step: string | number) => string
  /** Messages for values of the wrong type; by default in the terms of JSON. */
  readonly wanted?: TypeMessages
}

interface TypeMessages {
  /** Text is expected. */
  readonly string: string
  /** A number is expected. */
  readonly number: string
  /** Text is expected, and a number was sent. */
  readonly quoted: string
  /** An object is expected. The names of its members follow the message. */
  readonly object: string
}

const jsonMessages: TypeMessages = {
  string: 'This must be a string.',
  number: 'This must be a string or a number.',
  quoted: 'Write a number as a string, in double quotes, so that no digit of it is lost.',
  object: 'This must be an object with'
}

export type TreeFault = Fault & { readonly path: string }

export interface TreeReading {
  readonly root: Element
  /** Their paths are in the sender's notation. */
  readonly faults: readonly TreeFault[]
  /** False when the document has too many elements: the rest was not read. */
  readonly isWhole: boolean
}

type Members = { readonly [name: string]: Tree }

/** Reading stops collecting faults here, so that a million unknown members cost no more than a few. */
export const maxFaults = 200

/** The most characters of a fault's path, with the ellipsis: names in it can be megabytes long. */
export const maxPath = 257

function isMembers(value: Tree): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Numeral)
}

export interface TreeOptions {
  /** Faults that were found before reading. */
  readonly known?: readonly TreeFault[]
  /** The most elements that the document may have. The rest is not read and is reported once. */
  readonly most?: number | undefined
}

/**
 * Reads a tree into elements in the order of the schema, so that the XSD can validate every notation. Unknown members and
 * values of the wrong type are reported; the latter become empty elements, and the rest is read. A null member counts as
 * absent.
 */
export function readTree(value: Tree, type: ElementType, naming: Naming, options: TreeOptions = {}): TreeReading {
  const reader = new TreeReader(naming, options)
  const root = reader.read(value, type, '')
  return { root, faults: reader.faults, isWhole: reader.isWhole }
}

/** The member names of a type in the notation. Each type's shape is computed once. */
interface Shape {
  readonly names: readonly string[]
  readonly known: ReadonlySet<string>
  readonly attributes: readonly { readonly name: string; readonly member: string; readonly type: SimpleType }[]
  readonly children: readonly { readonly type: ElementType; readonly member: string }[]
}

class TreeReader {
  readonly faults: TreeFault[]
  isWhole = true
  readonly #naming: Naming
  readonly #messages: TypeMessages
  readonly #most: number
  readonly #shapes = new Map<ElementType, Shape>()
  #count = 0

  constructor(naming: Naming, { known = [], most = Number.POSITIVE_INFINITY }: TreeOptions) {
    this.#naming = naming
    this.#messages = naming.wanted ?? jsonMessages
    this.#most = most
    this.faults = known.slice(0, maxFaults).map((fault) => ({ ...fault, path: shorten(fault.path, maxPath) }))
  }

  #report(path: string, detail: string): void {
    if (this.faults.length >= maxFaults) return
    this.faults.push({ path: shorten(path, maxPath), detail })
  }

  #shape(type: ElementType): Shape {
    const cached = this.#shapes.get(type)
    if (cached) return cached
    const { member } = this.#naming
    const attributes = type.attributes.map(({ name, type: own }) => ({ name, member: member(name), type: own }))
    const children = type.children.map((child) => ({ type: child, member: member(child.name) }))
    const names = [...(type.text ? ['value'] : []), ...[...attributes, ...children].map((part) => part.member)]
    const shape = { names, known: new Set(names), attributes, children }
    this.#shapes.set(type, shape)
    return shape
  }

  read(value: Tree, type: ElementType, origin: string): Element {
    this.#count++
    const { name } = type
    if (type.text && (type.attributes.length === 0 || !isMembers(value)))
      return { name, text: this.#text(value, type.text, origin), origin }
    const shape = this.#shape(type)
    if (!isMembers(value)) {
      this.#report(origin, `${this.#messages.object} ${shape.names.join(', ')}.`)
      return { name, children: [], origin }
    }
    this.#refuseUnknown(value, shape, origin)
    const attributes = this.#attributes(value, shape, origin)
    if (type.text) {
      const text = this.#text(own(value, 'value') ?? '', type.text, this.#naming.under(origin, 'value'))
      return { name, ...attributes, text, origin }
    }
    const children: Element[] = []
    for (const child of shape.children) {
      const given = own(value, child.member)
      if (given !== undefined) this.#readInto(children, given, child.type, this.#naming.under(origin, child.member))
    }
    return { name, ...attributes, children, origin }
  }

  #text(value: Tree, type: SimpleType, place: string): string {
    const numeric = isNumeric(type)
    if (typeof value === 'string' && isXmlText(value)) return value
    if (value instanceof Numeral && numeric) return value.text
    if (typeof value === 'string') this.#report(place, 'The text has a control character or a lone surrogate, which no document can hold.')
    else if (value instanceof Numeral) this.#report(place, this.#messages.quoted)
    else this.#report(place, numeric ? this.#messages.number : this.#messages.string)
    return ''
  }

  #refuseUnknown(value: Members, { known, names }: Shape, place: string): void {
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue
      if (this.faults.length >= maxFaults) return
      this.#report(
        this.#naming.under(place, name),
        `There is no ${JSON.stringify(shorten(name))} here. The names that can be used are ${names.join(', ')}.`
      )
    }
  }

  #attributes(value: Members, shape: Shape, place: string): { readonly attributes?: Readonly<Record<string, string>> } {
    const found = shape.attributes.flatMap(({ name, member, type }): [string, string][] => {
      const given = own(value, member)
      return given === undefined ? [] : [[name, this.#text(given, type, this.#naming.under(place, member))]]
    })
    return found.length > 0 ? { attributes: Object.fromEntries(found) } : {}
  }

  #readInto(children: Element[], given: Tree, type: ElementType, path: string): void {
    if (!type.repeatable) {
      children.push(this.read(given, type, path))
      return
    }
    if (!Array.isArray(given)) {
      this.#report(path, 'This must be an array, because it can occur more than once.')
      children.push({ name: type.name, children: [], origin: path })
      return
    }
    for (const [i, one] of (given as readonly Tree[]).entries()) {
      if (this.#count >= this.#most) {
        if (this.isWhole) this.#report('', `The document has more than ${this.#most} elements. Send it in several documents.`)
        this.isWhole = false
        return
      }
      children.push(this.read(one, type, this.#naming.under(path, i)))
    }
  }
}

function own(value: Members, name: string): Tree | undefined {
  return Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined
}
