import { childrenOf, type Element } from './element.ts'
import { pointer } from './json-text.ts'
import { type Naming, readTree, type Tree, type TreeReading } from './tree.ts'
import type { ElementType } from './vocabulary.ts'

/** The JSON name of an element or attribute: `order-number` -> `orderNumber`. */
export function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

const pointers: Naming = {
  member: camelCase,
  under: (place, step) => `${place}${pointer([step])}`
}

interface JsonOptions {
  /** JSON pointers of members that occur more than once in their object; the value has only the last of each. */
  readonly repeated?: readonly string[]
  /** The most elements that the document may have. */
  readonly most?: number
}

export function readJson(value: Tree, type: ElementType, { repeated = [], most }: JsonOptions = {}): TreeReading {
  const known = repeated.map((path) => ({ path, detail: 'This member occurs more than once.' }))
  return readTree(value, type, pointers, { known, most })
}

export type Json = string | readonly Json[] | { readonly [name: string]: Json }

/**
 * Turns an element into JSON with the same names in camel case. Text becomes a string, text with attributes an object with
 * `value`, and a repeatable element always an array.
 */
export function toJson(element: Element, type: ElementType): Json {
  const attributes = Object.entries(element.attributes ?? {}).map(([name, value]): [string, Json] => [camelCase(name), value])
  if (type.text)
    return type.attributes.length === 0 ? (element.text ?? '') : Object.fromEntries([['value', element.text ?? ''], ...attributes])
  const members = type.children.flatMap((child): [string, Json][] => {
    const found = childrenOf(element, child.name)
    if (child.repeatable) return [[camelCase(child.name), found.map((one) => toJson(one, child))]]
    return found[0] ? [[camelCase(child.name), toJson(found[0], child)]] : []
  })
  return Object.fromEntries([...attributes, ...members])
}
