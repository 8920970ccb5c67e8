import type { ExtensionDraft, Sourced } from '../buyer-document.ts'
import { attributeOf, find, findAll, trimmedText, wholeText, type XmlElement } from '../xml-element.ts'
import type { Values } from './values.ts'

/** Reads Comments and the names of their attachments. An attachment is never fetched. */
export function readComments(parent: XmlElement, values: Values): readonly Sourced[] {
  const notes: Sourced[] = []
  for (const comments of findAll(parent, 'Comments')) {
    const text = wholeText(comments, 'Attachment')
    if (text !== undefined) notes.push(values.prose(text, comments))
    for (const attachment of findAll(comments, 'Attachment')) {
      const url = find(attachment, 'URL')
      const name = attributeOf(url, 'name') ?? trimmedText(url)
      if (name !== undefined) notes.push(values.prose(`Attachment: ${name}`, attachment))
    }
  }
  return notes
}

/** Charges that the buyer offers to pay on top of a Total or a UnitPrice. They are not billed. */
export function readCharges(price: XmlElement | undefined, values: Values): readonly Sourced[] {
  return modificationsOf(price, 'AdditionalCost').map((cost) => {
    const money = find(cost, 'Money')
    const percent = attributeOf(find(cost, 'Percentage'), 'percent')
    const amount = percent === undefined ? [trimmedText(money), attributeOf(money, 'currency')].join(' ').trim() : `${percent} %`
    return values.prose(`AdditionalCost: ${amount ? `${amount}, ` : ''}not billed`, cost)
  })
}

/** The additional costs or deductions of a Total or a UnitPrice. */
export function modificationsOf(price: XmlElement | undefined, local: 'AdditionalCost' | 'AdditionalDeduction'): readonly XmlElement[] {
  return findAll(find(price, 'Modifications'), 'Modification').flatMap((modification) => findAll(modification, local))
}

/** Reads Extrinsics with a name and a text. Nested ones are only in the original. */
export function readExtrinsics(parent: XmlElement | undefined, values: Values): readonly ExtensionDraft[] {
  return findAll(parent, 'Extrinsic').flatMap((extrinsic) =>
    extension(attributeOf(extrinsic, 'name'), wholeText(extrinsic), extrinsic, values)
  )
}

/** One extension, or none when the name or the value is absent. */
export function extension(
  name: string | undefined,
  value: string | undefined,
  from: XmlElement | undefined,
  values: Values
): readonly ExtensionDraft[] {
  if (name === undefined || value === undefined || from === undefined) return []
  return [{ name: values.quotable(name), value: values.prose(value, from) }]
}
