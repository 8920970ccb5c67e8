import type { FormFields } from './job.ts'
import { parseForm } from './sources.ts'

/** How much of a form can come back in a page, in characters: the fields of some 500 lines. */
const mostCharacters = 64 * 1024

/**
 * The fields of a form that a page may have to show again: the form's own (`_method` and the like) and as many others as
 * fit, in the order in which they were sent.
 * @throws Problem `malformed-document`
 */
export function readFields(bytes: Uint8Array): FormFields {
  const { fields } = parseForm(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  const [own, others] = [makeRoom(), makeRoom()]
  for (const [name, value] of fields) (name.startsWith('_') ? own : others).add(name, value)
  return { fields: [...own.fields, ...others.fields], isCut: own.isFull || others.isFull }
}

/** Keeps fields from the first on, until one does not fit. */
function makeRoom() {
  const fields: [name: string, value: string][] = []
  let left = mostCharacters
  return {
    fields,
    get isFull() {
      return left < 0
    },
    add(name: string, value: string) {
      left -= name.length + value.length
      if (left >= 0) fields.push([name, value])
      else left = Number.NEGATIVE_INFINITY
    }
  }
}
