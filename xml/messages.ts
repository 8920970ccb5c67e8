import { shorten } from '../schemas/shorten.ts'
import type { ElementType, SimpleType } from '../schemas/vocabulary.ts'
import { attributeOf, codes, type EngineError, isInNamespace, lengthOf, refusedValue } from './engine.ts'
import type { Sequence } from './positions.ts'
import type { Tag } from './tag.ts'

/** Writes an element's name in the sender's notation, for an error message. */
export type Spell = (name: string) => string

export const asTag: Spell = (name) => `<${shorten(name)}>`

function anyOf(names: readonly string[], spell: Spell): string {
  return names.map(spell).join(' or ')
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
    'xs:nonNegativeInteger': 'a whole number, 0 or more',
    'xs:decimal': 'a decimal number'
  }
  return bases[type.base] ?? ''
}

/** The error for an element that its parent's type does not have. */
export function explainUnknown(tag: Tag, parent: Tag, parentType: ElementType, spell: Spell): string {
  if (parentType.text) return `${spell(parent.name)} holds text only; there is an element in it.`
  const names = parentType.children.map(({ name }) => name)
  if (names.length === 0) return `${spell(parent.name)} has attributes only: ${spell(tag.name)} is not allowed in it.`
  return `There is no ${spell(tag.name)} in ${spell(parent.name)}; it can hold ${anyOf(names, spell)}.`
}

export function explainRoot(name: string, roots: readonly string[], spell: Spell, inNamespace = false): string {
  return `The root element must be ${anyOf(roots, spell)}, without a namespace; this one is ${spell(name)}${inNamespace ? ' in a namespace' : ''}.`
}

/** @param names the elements of which one is missing */
export function explainMissing(tag: Tag, names: readonly string[], spell: Spell): string {
  return `${spell(tag.name)} is not complete: it needs ${anyOf(names, spell)}.`
}

/** The error for an element at a wrong position in a sequence. */
export function explainPosition(tag: Tag, sequence: Sequence, type: ElementType, spell: Spell): string {
  const { parent, nth } = tag
  const here = spell(tag.name)
  const around = spell(parent?.name ?? '')
  const other = type.alternatives?.find((name) => name !== tag.name && parent?.counts.has(name))
  if (other !== undefined) return `There can be ${spell(other)} or ${here} in ${around}, not both.`
  if (nth > 1 && !type.repeatable) return `There can be only one ${here} in ${around}.`
  if (type.most !== undefined && nth > type.most) return `There can be at most ${type.most} ${here} in ${around}.`
  const later = sequence.overtook(tag.name)
  if (later !== undefined) return `${here} is in the wrong place: it must come before ${spell(later)}.`
  const due = sequence.due()
  return due.length > 0 ? `${here} is in the wrong place: it must come after ${anyOf(due, spell)}.` : `${here} is not allowed here.`
}

export function explainNamespace(name: string, spell: Spell): string {
  return `${spell(name)} is in a namespace. Documents of this service have no namespace.`
}

/** The facts that an error message needs besides libxml2's error. */
export interface Circumstances {
  /** The element's type in the schema, if it is known. */
  readonly type: ElementType | undefined
  /** The names of the accepted root elements. */
  readonly roots: readonly string[]
  readonly spell: Spell
  /** Turns libxml2's name of an attribute into the document's. */
  readonly written: (attribute: string) => string
}

/** Writes libxml2's error as a sentence of this service: without error codes, and with what would be valid. */
export function explain(error: EngineError, tag: Tag, { type, roots, spell, written }: Circumstances): string {
  const here = spell(tag.name)
  switch (error.code) {
    case codes.noRoot:
      return explainRoot(tag.name, roots, spell, isInNamespace(error))
    case codes.attributeNotAllowed:
    case codes.attributeOfSimple:
      return `${here} has no attribute "${shorten(written(error.str1 ?? ''))}".`
    case codes.attributeMissing:
      return `${here} needs the attribute "${written(error.str1 ?? '')}".`
    case codes.elementOnly:
      return `${here} holds elements only; there is text between them.`
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
    : `${what} is ${JSON.stringify(shorten(value))}; it must be ${allowed || 'in another form'}.${numberAdvice(value, simple)}`
}

/**
 * How to write a number that XML Schema's decimals do not allow (section 3.3.3 of its part 2): with an exponent, as JSON has it, or with a
 * comma. A comma may separate thousands, so a number such as 1,000 is written in both ways.
 */
function numberAdvice(value: string, type: SimpleType | undefined): string {
  if (type?.base !== 'xs:decimal') return ''
  if (/^[+-]?\d+(\.\d+)?e[+-]?\d+$/i.test(value)) return ' Write it without an exponent.'
  if (!/^[+-]?\d{1,15},\d{1,15}$/.test(value)) return ''
  const withPoint = value.replace(',', '.')
  return /,\d{3}$/.test(value) ? ` Write ${withPoint} or ${value.replace(',', '')}.` : ` Write ${withPoint}.`
}
