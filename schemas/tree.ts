import type { Fault } from '../domain/errors.ts'
import type { Element } from './element.ts'
import { shorten } from './shorten.ts'
import { type ElementType, isNumeric, type SimpleType } from './vocabulary.ts'

/** A number as it was written: as a binary floating-point number it would lose digits, and 1e3 could not be told from 1000. */
export class Numeral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Objects, arrays, strings and numbers, as JSON or a form's fields give them. */
export type Tree = null | boolean | Numeral | string | readonly Tree[] | { readonly [name: string]: Tree }

/** How a notation writes the vocabulary's names and says where something is. */
export interface Notation {
  /** The member name of an element or attribute, for example `orderNumber` for `order-number`. */
  readonly member: (name: string) => string
  /** The place of a member (or of a 0-based position) under another place. */
  readonly under: (place: string, step: string | number) => string
  readonly root: string
  /** What to say where something else belongs than was sent; by default in JSON's terms. */
  readonly wanted?: Wanted
}

interface Wanted {
  readonly string: string
  /** Where the schema has a number. */
  readonly number: string
  /** In place of a number, where the schema has a text. */
  readonly quoted: string
  /** Before the names that it can have. */
  readonly object: string
}

const inJson: Wanted = {
  string: 'This must be a string.',
  number: 'This must be a string or a number.',
  quoted: 'Write a number as a string, in double quotes, so that no digit of it is lost.',
  object: 'This must be an object with'
}

export type TreeFault = Fault & { readonly path: string }

export interface TreeReading {
  readonly root: Element
  /** Each with its `path` in the sender's notation. */
  readonly faults: readonly TreeFault[]
  /** False for a document of more elements than one can have, of which the rest was not read. */
  readonly isWhole: boolean
}

type Members = { readonly [name: string]: Tree }

/** Everything that XML 1.0 can hold (section 2.2, Char); lone surrogates are not in it. */
const notXml = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

/** More faults than are ever told are not looked for: a tree of a million unknown members costs no more than one of a few. */
export const maxFaults = 200

/** A name of megabytes that was sent is not sent back: a longer path is cut to 256 characters. */
export const maxPath = 259

function isMembers(value: Tree): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Numeral)
}

export interface TreeOptions {
  /** Faults that were found before. */
  readonly known?: readonly TreeFault[]
  /** The most elements that a document can have: the rest is not read, and reported once. */
  readonly most?: number | undefined
}

/**
 * Reads a tree of members into elements, in the order that the schema wants, so that the XSD is the gate for every
 * notation. What it cannot carry over (unknown members, wrong kinds) is reported, and stands in the result as an empty
 * element; the rest is read all the same. A member that is null is a member that is not there.
 */
export function readTree(value: Tree, type: ElementType, notation: Notation, options: TreeOptions = {}): TreeReading {
  const reader = new TreeReader(notation, options)
  const root = reader.read(value, type, notation.root)
  return { root, faults: reader.faults, isWhole: reader.isWhole }
}

/** A type's names in the notation, worked out once. */
interface Shape {
  readonly names: readonly string[]
  readonly known: ReadonlySet<string>
  readonly attributes: readonly { readonly name: string; readonly member: string; readonly type: SimpleType }[]
  readonly children: readonly { readonly type: ElementType; readonly member: string }[]
}

class TreeReader {
  readonly faults: TreeFault[]
  isWhole = true
  readonly #notation: Notation
  readonly #wanted: Wanted
  readonly #most: number
  readonly #shapes = new Map<ElementType, Shape>()
  #count = 0

  constructor(notation: Notation, { known = [], most = Number.POSITIVE_INFINITY }: TreeOptions) {
    this.#notation = notation
    this.#wanted = notation.wanted ?? inJson
    this.#most = most
    this.faults = known.slice(0, maxFaults).map((fault) => ({ ...fault, path: shorten(fault.path, maxPath) }))
  }

  #report(path: string, detail: string): void {
    if (this.faults.length >= maxFaults) return
    this.faults.push({ path: shorten(path, maxPath), detail })
  }

  #shape(type: ElementType): Shape {
    const there = this.#shapes.get(type)
    if (there) return there
    const { member } = this.#notation
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
      this.#report(origin, `${this.#wanted.object} ${shape.names.join(', ')}.`)
      return { name, children: [], origin }
    }
    this.#refuseUnknown(value, shape, origin)
    const attributes = this.#attributes(value, shape, origin)
    if (type.text) {
      const text = this.#text(own(value, 'value') ?? '', type.text, this.#notation.under(origin, 'value'))
      return { name, ...attributes, text, origin }
    }
    const children: Element[] = []
    for (const child of shape.children) {
      const given = own(value, child.member)
      if (given !== undefined) this.#readInto(children, given, child.type, this.#notation.under(origin, child.member))
    }
    return { name, ...attributes, children, origin }
  }

  #text(value: Tree, type: SimpleType, place: string): string {
    const numeric = isNumeric(type)
    if (typeof value === 'string' && !notXml.test(value)) return value
    if (value instanceof Numeral && numeric) return value.text
    if (typeof value === 'string') this.#report(place, 'The text has a control character, or half a character, that no document can hold.')
    else if (value instanceof Numeral) this.#report(place, this.#wanted.quoted)
    else this.#report(place, numeric ? this.#wanted.number : this.#wanted.string)
    return ''
  }

  #refuseUnknown(value: Members, { known, names }: Shape, place: string): void {
    for (const name of Object.keys(value)) {
      if (known.has(name)) continue
      if (this.faults.length >= maxFaults) return
      this.#report(this.#notation.under(place, name), `There is no ${JSON.stringify(shorten(name))} here; known are ${names.join(', ')}.`)
    }
  }

  #attributes(value: Members, shape: Shape, place: string): { readonly attributes?: Readonly<Record<string, string>> } {
    const found = shape.attributes.flatMap(({ name, member, type }): [string, string][] => {
      const given = own(value, member)
      return given === undefined ? [] : [[name, this.#text(given, type, this.#notation.under(place, member))]]
    })
    return found.length > 0 ? { attributes: Object.fromEntries(found) } : {}
  }

  #readInto(children: Element[], given: Tree, type: ElementType, there: string): void {
    if (!type.repeatable) {
      children.push(this.read(given, type, there))
      return
    }
    if (!Array.isArray(given)) {
      this.#report(there, 'This must be an array: it can be there more than once.')
      children.push({ name: type.name, children: [], origin: there })
      return
    }
    for (const [i, one] of (given as readonly Tree[]).entries()) {
      if (this.#count >= this.#most) {
        if (this.isWhole) this.#report('', `The document has more than ${this.#most} parts: send it in several.`)
        this.isWhole = false
        return
      }
      children.push(this.read(one, type, this.#notation.under(there, i)))
    }
  }
}

function own(value: Members, name: string): Tree | undefined {
  return Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined
}
