import { shorten } from '../schemas/shorten.ts'
import type { ElementType, SimpleType } from '../schemas/vocabulary.ts'
import {
  attributeOf,
  codes,
  type EngineError,
  expectedIn,
  isInNamespace,
  isOfMissing,
  lengthOf,
  maxExpected,
  refusedValue
} from './engine.ts'
import type { Tag } from './tag.ts'

/** How a message writes an element's name: as the sender does. */
export type Spell = (name: string) => string

export const asTag: Spell = (name) => `<${shorten(name)}>`

function list(names: readonly string[], word: string, spell: Spell): string {
  return names.map(spell).join(` ${word} `)
}

function rule(type: SimpleType | undefined): string {
  if (!type) return ''
  if (type.values.length > 0) return `one of ${type.values.join(', ')}`
  if (type.documentation) return type.documentation
  const { minLength, maxLength } = type
  if (maxLength !== undefined)
    return minLength ? `a text of ${minLength} to ${maxLength} characters` : `a text of up to ${maxLength} characters`
  const bases: Readonly<Record<string, string>> = {
    'xs:dateTime': 'a date and time such as 2026-11-20T15:00:00Z',
    'xs:positiveInteger': 'a whole number above 0',
    'xs:decimal': 'a decimal number'
  }
  return bases[type.base] ?? ''
}

/** What to say of an element that its parent's type does not know. */
export function explainUnknown(tag: Tag, parent: Tag, around: ElementType, spell: Spell): string {
  if (around.text) return `${spell(parent.name)} holds text only; there is an element in it.`
  const names = around.children.map(({ name }) => name)
  if (names.length === 0) return `${spell(parent.name)} holds nothing but its attributes: ${spell(tag.name)} cannot stand in it.`
  return `There is no ${spell(tag.name)} in ${spell(parent.name)}; it can hold ${list(names, 'or', spell)}.`
}

export function explainRoot(name: string, roots: readonly string[], spell: Spell = asTag, inNamespace = false): string {
  return `The root element must be ${list(roots, 'or', spell)}, without a namespace; this one is ${spell(name)}${inNamespace ? ' in a namespace' : ''}.`
}

function explainMissing(names: readonly string[], type: ElementType | undefined, spell: Spell): string {
  const required = type?.children.filter((child) => child.required).map(({ name }) => name) ?? []
  const needed = required.filter((name) => names.includes(name))
  if (needed.length > 0) return list(needed, 'and', spell)
  // libxml2's list ended before it came to what is needed: that is the first required one behind it.
  const last = type?.children.findIndex(({ name }) => name === names.at(-1)) ?? -1
  const behind = names.length < maxExpected ? undefined : type?.children.slice(last + 1).find((child) => child.required)
  return list(behind ? [behind.name] : names, 'or', spell)
}

/**
 * What to say of an element that cannot stand where it is.
 * @param names of the elements that could
 */
export function explainPosition(tag: Tag, names: readonly string[], type: ElementType | undefined, spell: Spell): string {
  const { parent, nth } = tag
  const here = spell(tag.name)
  const around = spell(parent?.name ?? '')
  const other = type?.alternatives?.find((name) => name !== tag.name && parent?.counts.has(name))
  if (other !== undefined) return `There can be ${spell(other)} or ${here} in ${around}, not both.`
  if (type && nth > 1 && !type.repeatable) return `There can be only one ${here} in ${around}.`
  if (type?.most !== undefined && nth > type.most) return `There can be ${type.most} ${here} in ${around} at most.`
  return `${here} cannot stand here.${names.length > 0 ? ` Here belongs ${list(names, 'or', spell)}.` : ' Nothing more belongs here.'}`
}

export function explainNamespace(name: string, spell: Spell): string {
  return `${spell(name)} is in a namespace; the documents here have none.`
}

/** What is said about an element besides what libxml2 found. */
export interface Circumstances {
  /** The element as the schema has it, where it is known. */
  readonly type: ElementType | undefined
  /** The root elements accepted. */
  readonly roots: readonly string[]
  readonly spell: Spell
  /** How the document writes an attribute that libxml2 names. */
  readonly written: (attribute: string) => string
}

/** Says in the service's own words what libxml2 found: never its codes, and with what would be right. */
export function explain(error: EngineError, tag: Tag, { type, roots, spell, written }: Circumstances): string {
  const here = spell(tag.name)
  switch (error.code) {
    case codes.noRoot:
      return explainRoot(tag.name, roots, spell, isInNamespace(error))
    case codes.unexpected:
      if (isOfMissing(error)) return `${here} is not complete: it needs ${explainMissing(expectedIn(error), type, spell)}.`
      if (isInNamespace(error)) return explainNamespace(tag.name, spell)
      return explainPosition(tag, expectedIn(error), type, spell)
    case codes.attributeNotAllowed:
    case codes.attributeOfSimple:
      return `${here} has no attribute "${shorten(written(error.str1 ?? ''))}".`
    case codes.attributeMissing:
      return `${here} needs the attribute "${written(error.str1 ?? '')}".`
    case codes.elementOnly:
      return `${here} holds elements only; there is text between them.`
    case codes.simpleContent:
      return `${here} holds text only; there is an element in it.`
    case codes.emptyContent:
      return `${here} must be empty.`
    case codes.unknownType:
    case codes.otherType:
      return `${here} cannot have another type: leave xsi:type out.`
    case codes.notNillable:
      return `${here} cannot be nil: leave xsi:nil out.`
  }
  return explainValue(error, here, type, written)
}

function explainValue(error: EngineError, here: string, type: ElementType | undefined, written: Circumstances['written']): string {
  const attribute = attributeOf(error)
  const simple = attribute === undefined ? type?.text : type?.attributes.find(({ name }) => name === attribute)?.type
  const what = attribute === undefined ? here : `The attribute "${shorten(written(attribute))}" of ${here}`
  const allowed = rule(simple)
  if (error.code === codes.maxLength || error.code === codes.minLength) {
    return `${what} has ${lengthOf(error)} characters; it must be ${allowed}.`
  }
  const value = refusedValue(error)
  return value === ''
    ? `${what} is empty; it must be ${allowed || 'filled in'}.`
    : `${what} is ${JSON.stringify(shorten(value))}; it must be ${allowed || 'of another form'}.`
}
