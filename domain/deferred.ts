/**
 * Values that are still JSON text. A large order crosses the serving thread as text: what reads it, decides on it and
 * writes it runs beside that thread, and to parse 10,000 lines there would hold up every other request for 20 ms.
 */

import { channel } from 'node:diagnostics_channel'

/** Tells of every value that is parsed in this thread, by the length of its text: for who watches that none is. */
export const parses = channel('tradepost.deferred.parse')

const texts = new WeakMap<object, string>()

export type Known<T> = { readonly [K in keyof T]?: T[K] | undefined }

/**
 * A value that is parsed when somebody first looks at a property of it that is not in `known`. It can be used like any
 * other value, but structured clone refuses it: what sends it to another thread sends `textOf` it.
 * @param text the JSON of the whole value
 * @param known what can be read without parsing; also that a property is not there
 */
export function defer<T extends object>(text: string, known: Known<T> = {}): T {
  let parsed: T | undefined
  const value = () => {
    if (parsed === undefined) {
      parses.publish(text.length)
      parsed = JSON.parse(text) as T
    }
    return parsed
  }
  const deferred = new Proxy({} as T, {
    get: (_, name) => {
      // Every promise that is resolved with a value asks it for `then`, and no JSON has a function or a symbol.
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

/** Whether JSON is so long that a value stays text in the thread that serves: to parse it would hold the others up. */
export function isLarge(json: string): boolean {
  return json.length > 32 * 1024
}

/** The JSON text of a deferred value; undefined for any other. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined
}
