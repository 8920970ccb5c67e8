import type { ExtensionDraft, Sourced } from '../buyer-document.ts'
import { attributeOf, find, findAll, trimmedText, type XmlElement } from '../xml-element.ts'

/** The text of an element. Undefined for an element that is absent or empty. */
export function textOf(element: XmlElement | undefined): Sourced | undefined {
  const text = trimmedText(element)
  return element && text !== undefined ? { text, from: element } : undefined
}

/** The text of the first descendant along a path of local names. */
export function valueAt(element: XmlElement | undefined, ...path: readonly string[]): Sourced | undefined {
  return textOf(find(element, ...path))
}

/** The texts of all children with this name or, if there is a path, of the element that it leads to from each child. Empty ones are left out. */
export function valuesOf(element: XmlElement | undefined, local: string, ...path: readonly string[]): readonly Sourced[] {
  return findAll(element, local).flatMap((child) => valueAt(child, ...path) ?? [])
}

export function attributeValue(element: XmlElement | undefined, name: string): Sourced | undefined {
  const text = attributeOf(element, name)
  return element && text !== undefined ? { text, from: element } : undefined
}

/** An identifier with its scheme before it, such as `0088:7300010000001`. Undefined where there is none. */
export function schemed(id: XmlElement | undefined, attribute = 'schemeID'): Sourced | undefined {
  const value = textOf(id)
  const scheme = attributeOf(id, attribute)
  return value && scheme !== undefined ? { ...value, text: `${scheme}:${value.text}` } : value
}

/** Joins the texts that are present. The place is that of the first. */
export function joined(values: readonly (Sourced | undefined)[], separator: string): Sourced | undefined {
  const present = values.filter((value) => value !== undefined)
  return present[0] && { text: present.map(({ text }) => text).join(separator), from: present[0].from }
}

export function extensionsOf(name: string, values: readonly (Sourced | undefined)[]): readonly ExtensionDraft[] {
  return values.flatMap((value) => (value ? [{ name, value }] : []))
}

/** An xs:boolean that is true. Capital letters do not matter. */
export function isTrue(element: XmlElement | undefined): boolean {
  return /^(true|1)$/i.test(trimmedText(element) ?? '')
}
