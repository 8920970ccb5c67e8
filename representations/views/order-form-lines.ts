/** The lines of an order form, which its fields name by their numbers: `item.3.quantity`. */

import { acceptedItems } from '../../domain/line-answers.ts'
import type { Order } from '../../domain/order.ts'
import type { Values } from './fields.ts'

/** Lines of an empty form. The script has as many. */
export const initialRows = 4

/** The names of the filled-in fields of each line, by the line's number. */
export type Lines = ReadonlyMap<number, readonly string[]>

export function isAllBlank(lines: Lines): boolean {
  return [...lines.values()].every((filled) => filled.length === 0)
}

/** The number of a field's line; undefined for a field outside the lines. */
export function lineOf(name: string): number | undefined {
  const number = /^item\.(0|[1-9]\d{0,8})\./.exec(name)?.[1]
  return number === undefined ? undefined : Number(number)
}

function lineNumbers(values: Values): ReadonlySet<number> {
  return new Set([...values.keys()].flatMap((name) => lineOf(name) ?? []))
}

/** The number of lines in a form. */
export function lineCount(values: Values): number {
  return lineNumbers(values).size
}

/**
 * The lines of a form. Blank ones follow at the end.
 * @param moreRows how many more lines the user asked for; 0 makes sure that one is blank
 */
export function linesOf(values: Values, moreRows?: number): Lines {
  const found = new Map<number, string[]>()
  for (const [name, value] of values) {
    const number = lineOf(name)
    if (number === undefined) continue
    const filled = found.get(number) ?? []
    found.set(number, filled)
    if (value.trim() !== '') filled.push(name)
  }
  const rows = new Map([...found].sort(([a], [b]) => a - b))
  const isFull = [...rows.values()].every((filled) => filled.length > 0)
  const total = Math.max(initialRows, rows.size + (moreRows === 0 && isFull ? 1 : (moreRows ?? 0)))
  for (let next = ([...rows.keys()].at(-1) ?? 0) + 1; rows.size < total; next++) rows.set(next, [])
  return rows
}

/** Limits of the form, in lines and in characters of text. A larger order is changed by sending a document. */
export const maxFormLines = 100
const maxFormText = 64 * 1024

/** The most notes and extensions that a form has. Each is a field, which takes 40 µs of the serving thread to write. */
const maxFormTexts = 400

/** Whether an order is small enough for a form, which has its lines but for those that were rejected. */
export function fitsForm({ items: all, notes, extensions }: Pick<Order, 'items' | 'notes' | 'extensions'>): boolean {
  const items = acceptedItems(all)
  if (items.length > maxFormLines) return false
  const texts = [
    ...notes,
    ...extensions.map(({ value }) => value),
    ...items.flatMap((item) => [...item.notes, ...(item.extensions ?? []).map(({ value }) => value)])
  ]
  return texts.length <= maxFormTexts && texts.reduce((sum, text) => sum + text.length, 0) <= maxFormText
}

/** Whether a page has room for the form's lines and their fields. */
export function hasRoom(values: Values): boolean {
  return lineCount(values) <= maxFormLines && values.size <= 4 * maxFormLines + maxFormTexts
}

/** How many of the first lines have no more fields than `most` together. */
export function linesWithin(values: Values, most: number): number {
  const counts = new Map<number, number>()
  for (const name of values.keys()) {
    const line = lineOf(name)
    if (line !== undefined) counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  let [lines, fields] = [0, 0]
  for (const [, count] of [...counts].sort(([a], [b]) => a - b)) {
    fields += count
    if (fields > most) break
    lines++
  }
  return lines
}

/** Keeps the first lines and all fields outside the lines. `left` is the number of lines that were left out. */
export function firstLines(values: Values, count: number): { readonly values: Values; readonly left: number } {
  const numbers = [...lineNumbers(values)].sort((a, b) => a - b)
  const left = new Set(numbers.slice(count))
  if (left.size === 0) return { values, left: 0 }
  return { values: new Map([...values].filter(([name]) => !left.has(lineOf(name) ?? -1))), left: left.size }
}
