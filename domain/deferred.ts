/**
 * Values that are still JSON text. A large order passes through the serving thread as text, because parsing 10,000 lines
 * there would delay every other request by 20 ms. Other threads and processes read, decide and write it.
 */

import { channel } from 'node:diagnostics_channel'

/** Publishes the length of every deferred text that this thread parses or decodes, so that tests can check that it does neither. */
export const parses = channel('tradepost.deferred.parse')

/**
 * JSON text, as a string or as its bytes in UTF-8. SQLite gives large texts as bytes, because decoding 10 MB of wide characters takes
 * 35 ms. They are decoded where they are parsed.
 */
export type JsonText = string | Uint8Array

const texts = new WeakMap<object, JsonText>()

export type Known<T> = { readonly [K in keyof T]?: T[K] | undefined }

/**
 * A value that is parsed when a property that is not in `known` is first read. It can be used like any other value, but
 * structured clone refuses it: send `textOf` of it to another thread.
 * @param text the JSON of the whole value
 * @param known what can be read without parsing; undefined says that the value does not have the property
 */
export function defer<T extends object>(text: JsonText, known: Known<T> = {}): T {
  let parsed: T | undefined
  const value = () => {
    if (parsed === undefined) {
      // Bytes are counted where they are decoded.
      if (typeof text === 'string') parses.publish(text.length)
      parsed = parseText<T>(text)
    }
    return parsed
  }
  const deferred = new Proxy({} as T, {
    get: (_, name) => {
      // A promise that is resolved with a value reads its `then`. JSON has no functions and no symbols.
      if (name === 'then' || typeof name === 'symbol') return undefined
      return name in known ? known[name as keyof T] : Reflect.get(value(), name)
    },
    has: (_, name) => (typeof name === 'symbol' ? false : name in known ? known[name as keyof T] !== undefined : name in value()),
    ownKeys: () => Reflect.ownKeys(value()),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(value(), name)
      // The target has no properties of its own, so none may be reported as fixed.
      return found && { ...found, configurable: true }
    },
    set: () => false,
    deleteProperty: () => false
  })
  texts.set(deferred, text)
  return deferred
}

/** The most bytes in UTF-8 of a character of a string. A character of 4 bytes counts as two, because JavaScript makes a pair of it. */
export const mostBytesOfCharacter = 3

/** Characters of JSON that the serving thread parses and writes itself. */
export const mostInline = 32 * 1024

/** Whether JSON is so long that the serving thread keeps it as text: parsing it would delay other requests. */
export function isLarge(json: JsonText): boolean {
  return json.length > mostInline
}

/** The JSON of a value, deferred or not. */
export function jsonOf(value: object): JsonText {
  return textOf(value) ?? JSON.stringify(value)
}

/** The text as a string. If the text is bytes, this decodes them. */
export function stringOf(text: JsonText): string {
  if (typeof text === 'string') return text
  parses.publish(text.length)
  return bufferOf(text).toString()
}

export function parseText<T>(text: JsonText): T {
  return JSON.parse(stringOf(text))
}

/** The parts of a list's items as the parts of the list, with a comma between the items. */
export function listed(items: readonly (readonly JsonText[])[]): readonly JsonText[] {
  return items.flatMap((parts, i) => (i === 0 ? parts : [',', ...parts]))
}

/** Joins parts of a text. The result is bytes if any part is, so that none is decoded. Each call copies bytes, so join all parts at once. */
export function joinTexts(parts: readonly JsonText[]): JsonText {
  // Adding strings does not copy them. `join` would copy an order into its event, and both into a page.
  if (parts.every((part) => typeof part === 'string')) return parts.reduce((joined, part) => joined + part, '')
  return Buffer.concat(parts.map(bufferOf))
}

/** The JSON of an object with `added` properties before its own. Neither may be empty. @param added properties that the object does not have */
export function withProperties(added: object, json: JsonText): JsonText {
  return joinTexts([`${JSON.stringify(added).slice(0, -1)},`, typeof json === 'string' ? json.slice(1) : json.subarray(1)])
}

/** The length of a text as a string. Bytes are counted and not decoded. */
export function charactersOf(text: JsonText): number {
  if (typeof text === 'string') return text.length
  let count = 0
  // Counts the first byte of each character, which is not 10xxxxxx. The first of four bytes begins with 1111 and counts twice, as in a string.
  // A loop over the bytes as an iterable takes eight times as long.
  for (let i = 0; i < text.length; i++) {
    const byte = text[i] ?? 0
    if ((byte & 0xc0) !== 0x80) count += byte < 0xf0 ? 1 : 2
  }
  return count
}

/** The bytes of a text in UTF-8. To count them in a string takes 10 ms if it is large and has wide characters. */
export function encodedLength(text: JsonText): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.length
}

/** Whether a text contains an ASCII part. The text is not decoded. */
export function includesText(text: JsonText, part: string): boolean {
  return typeof text === 'string' ? text.includes(part) : bufferOf(text).includes(part)
}

/** A Buffer of the text. Bytes are not copied. */
export function bufferOf(text: JsonText): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength)
}

/** The value of JSON. It is deferred if it is large. @param known what can be read without parsing */
export function fromJson<T extends object>(json: JsonText, known: Known<T> = {}): T {
  return isLarge(json) ? defer<T>(json, known) : parseText(json)
}

/** Whether a value is deferred, so that the serving thread must not parse it. */
export function isDeferred(value: unknown): boolean {
  return textOf(value) !== undefined
}

/** The JSON text of a deferred value; undefined for any other. */
export function textOf(value: unknown): JsonText | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}
