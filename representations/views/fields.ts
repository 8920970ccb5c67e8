import type { LocatedFault } from '../../schemas/document.ts'
import { childrenOf, type Element } from '../../schemas/element.ts'
import type { ElementType, SimpleType } from '../../schemas/vocabulary.ts'
import { forPeople, label } from './format.ts'

/** One field of a form. Its constraints come from the schema. */
export interface Field {
  /** The field's name (see schemas/form.ts) and the id of its control. */
  readonly name: string
  readonly label: string
  readonly value: string
  readonly control: 'input' | 'textarea'
  /** The control's attributes besides name, id and value. */
  readonly attributes: Readonly<Record<string, string>>
  readonly errors: readonly string[]
  /** A text below the control that says how to fill it in. */
  readonly hint?: string
}

/** Values by field name, from a sent form or from an order. */
export type Values = ReadonlyMap<string, string>

/** Text that may be longer than this, in characters, gets a text area. */
const longText = 1000

/** Virtual keyboards. An input of type email would refuse addresses that the schema and mail servers accept (RFC 6531). */
const keyboards: Readonly<Record<string, string>> = { email: 'email', phone: 'tel' }

/** A value that a browser's date input can show. Any other value would be shown and sent as empty. */
const plainDate = /^(?:\d{4}-\d{2}-\d{2})?$/

/** A type's facets as attributes that a browser checks. White space around a value is allowed, since it collapses. */
function facets(name: string, type: SimpleType, value: string): Record<string, string> {
  const isText = type.base === 'xs:string'
  return {
    ...(type.base === 'xs:date' && plainDate.test(value) ? { type: 'date' } : {}),
    ...(keyboards[name] ? { inputmode: keyboards[name] } : {}),
    ...(type.maxLength === undefined ? {} : { maxlength: String(type.maxLength) }),
    ...(type.patterns.length === 0 || type.base === 'xs:date'
      ? {}
      : { pattern: isText ? type.patterns.join('|') : `\\s*(?:${type.patterns.join('|')})\\s*` }),
    ...(type.base === 'xs:decimal' ? { inputmode: 'decimal' } : {}),
    ...(type.documentation === undefined ? {} : { title: `${type.documentation.charAt(0).toUpperCase()}${type.documentation.slice(1)}` })
  }
}

/** Makes a field for an element with text. */
export function fieldOf(
  type: ElementType,
  name: string,
  values: Values,
  errors: Errors,
  more: Readonly<Record<string, string>> = {}
): Field {
  const text = type.text ?? { base: 'xs:string', patterns: [], values: [] }
  const value = values.get(name) ?? ''
  // An input would join the lines of a text and so change a value that nobody edited.
  const isLong = text.base === 'xs:string' && ((text.maxLength ?? 0) > longText || /[\r\n]/.test(value))
  return {
    name,
    label: label(type.name),
    value,
    control: isLong ? 'textarea' : 'input',
    attributes: { ...facets(type.name, text, value), ...more },
    errors: errors.of(name)
  }
}

/** Errors by field. */
export interface Errors {
  of(name: string): readonly string[]
  /** Every error once, with its field, if it has one. */
  readonly all: readonly { readonly detail: string; readonly field?: string }[]
}

/** @param fieldFor returns the name of the field that shows an error at a path, if the form has one */
export function placeErrors(faults: readonly LocatedFault[], fieldFor: (path: string) => string | undefined): Errors {
  const all = faults.map(({ detail, path }) => {
    const field = fieldFor(path ?? '')
    return { detail: forPeople(detail, path), ...(field === undefined ? {} : { field }) }
  })
  return { all, of: (name) => all.filter(({ field }) => field === name).map(({ detail }) => detail) }
}

export const noErrors = placeErrors([], () => undefined)

/** The texts and attributes of a document by field name, as the initial values of a form. */
export function valuesOf(root: Element, type: ElementType): Map<string, string> {
  const values = new Map<string, string>()
  const visit = (element: Element, type: ElementType, place: string) => {
    for (const { name } of type.attributes) {
      const value = element.attributes?.[name]
      if (value !== undefined) values.set(`${place}.${name}`, value)
    }
    if (type.text) values.set(place, element.text ?? '')
    for (const child of type.children) {
      childrenOf(element, child.name).forEach((one, i) => {
        const name = place === '' ? child.name : `${place}.${child.name}`
        visit(one, child, child.repeatable ? `${name}.${i + 1}` : name)
      })
    }
  }
  visit(root, type, '')
  return values
}
