import { isUtf8 } from 'node:buffer'
import { Problem } from '../http/problem.ts'
import { JsonSyntaxError, readJsonText } from '../schemas/json-text.ts'
import { lineAt } from '../schemas/line-feeds.ts'
import type { Tree } from '../schemas/tree.ts'

export interface JsonSource {
  readonly notation: 'json'
  readonly value: Tree
  /** JSON pointers of members that occur more than once in their object. */
  readonly repeated: readonly string[]
}

export interface FormSource {
  readonly notation: 'form'
  readonly fields: URLSearchParams
}

/** A parsed JSON document or form, before its schema is applied. */
export type TreeSource = JsonSource | FormSource

/** The text of a JSON document that is valid UTF-8, without its byte order mark. */
export function jsonText(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\ufeff/, '')
}

/**
 * @param marks the most elements that the document may have. It may have twice as many values, because a list is a value but not an element
 * @throws Problem `malformed-document`, with the line
 */
export function parseJson(bytes: Buffer, marks: number): JsonSource {
  if (!isUtf8(bytes)) throw new Problem('malformed-document', 'The JSON is not valid UTF-8.')
  const text = jsonText(bytes)
  if (text.trim() === '') throw new Problem('malformed-document', 'The body is empty. Send a JSON document.')
  try {
    return { notation: 'json', ...readJsonText(text, 2 * marks) }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const line = lineAt(text, error.offset)
    const detail = `The JSON is malformed at line ${line}: ${error.message}`
    throw new Problem('malformed-document', detail, { faults: [{ detail: error.message, line }] })
  }
}

/** @throws Problem `malformed-document` */
export function parseForm(text: string): FormSource {
  // @fastify/formbody decodes leniently: bytes that are not UTF-8 have become U+FFFD. A browser escapes a real U+FFFD.
  if (text.includes('\ufffd')) throw new Problem('malformed-document', 'The form data is not valid UTF-8.')
  for (const part of text.includes('%') ? text.split(/[&=]/) : []) {
    try {
      decodeURIComponent(part)
    } catch {
      const shown = JSON.stringify(part.slice(0, 80))
      throw new Problem('malformed-document', `The form data has a percent sign that does not start a UTF-8 character: ${shown}.`)
    }
  }
  return { notation: 'form', fields: new URLSearchParams(text) }
}
