import { bufferOf } from '../domain/deferred.ts'
import type { FormFields } from './job.ts'
import { parseForm } from './sources.ts'

/**
 * The most of a form that a page can show again: the fields of about 500 lines. Their number is limited too, because a field takes a
 * hundred bytes of memory however short it is. Without that limit the service had 2.4 GB while 500 connections sent 32 KiB of empty
 * fields each.
 */
const most = { characters: 64 * 1024, fields: 1_000 }

/**
 * The fields of a form that a page may have to show again: the control fields (such as `_method`), then as many others as
 * fit, each in the order in which they were sent.
 * @throws Problem `malformed-document`
 */
export function readFields(bytes: Uint8Array): FormFields {
  const { fields } = parseForm(bufferOf(bytes).toString())
  const [control, others] = [makeCollector(), makeCollector()]
  for (const [name, value] of fields) (name.startsWith('_') ? control : others).add(name, value)
  return { fields: [...control.fields, ...others.fields], isCut: control.isFull || others.isFull }
}

/** Collects fields until one does not fit. */
function makeCollector() {
  const fields: [name: string, value: string][] = []
  let left = most.characters
  return {
    fields,
    get isFull() {
      return left < 0
    },
    add(name: string, value: string) {
      left -= name.length + value.length
      if (left >= 0 && fields.length < most.fields) fields.push([name, value])
      else left = Number.NEGATIVE_INFINITY
    }
  }
}
