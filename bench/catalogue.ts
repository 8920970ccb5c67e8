/**
 * Generates a catalogue of any size. The same seed gives the same catalogue. The result is items for a store or, if this file
 * is run as a program, the text of a file.
 *
 *     node --import=./test/typescript/register.js bench/catalogue.ts --products 1000000 --format xml > catalogue.xml
 */

import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { decimal } from '../domain/money.ts'
import type { ProductDraft } from '../domain/product.ts'
import type { ImportItem } from '../domain/product-writes.ts'
import { exportedElement, exportFormats } from '../representations/catalogue.ts'
import { pick, random } from './measure.ts'

const things = [
  'bolt',
  'screw',
  'nut',
  'washer',
  'rivet',
  'bracket',
  'hinge',
  'bearing',
  'gasket',
  'valve',
  'hose',
  'pump',
  'filter',
  'relay',
  'cable',
  'switch'
]
const kinds = [
  'hex',
  'flat',
  'round',
  'square',
  'slotted',
  'self-tapping',
  'stainless',
  'galvanised',
  'brass',
  'nylon',
  'heavy-duty',
  'miniature',
  'sealed',
  'Größe XL',
  'für Außen'
]
const groups = ['Fasteners', 'Fittings', 'Hydraulics', 'Electrics', 'Workshop', 'Garden & yard', 'Lager "A"', 'Spares']
const units = ['C62', 'C62', 'C62', 'C62', 'MTR', 'KGM', 'LTR', 'PR']

/** Words of descriptions, the most common first. */
const words = Array.from({ length: 20_000 }, (_, i) => `w${i.toString(36)}${'aeiou'[i % 5]}r`)

/** @returns products with ascending ids, stock, texts and categories. Half of them have a valid GTIN */
export function* catalogue(count: number, seed: number): Generator<ImportItem, void, undefined> {
  const next = random(seed)
  for (let i = 0; i < count; i++) yield { id: productId(i, count), draft: product(i, next) }
}

/** The id of a product of a catalogue. @param count of products in the catalogue */
export function productId(i: number, count: number): string {
  return `P-${String(i).padStart(Math.max(7, String(count).length), '0')}`
}

function product(i: number, next: () => number): ProductDraft {
  const group = pick(next, groups)
  const thing = pick(next, things)
  const cents = 1 + Math.floor(next() ** 3 * 100_000)
  return {
    name: `${pick(next, kinds)} ${thing} M${1 + Math.floor(next() * 40)} × ${5 * (1 + Math.floor(next() * 60))}`,
    ...(next() < 0.9 ? { description: Array.from({ length: 8 + Math.floor(next() * 40) }, () => word(next)).join(' ') } : {}),
    price: decimal(`${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`),
    unit: pick(next, units),
    ...(i % 2 === 0 ? { gtin: gtin(i) } : {}),
    categories: next() < 0.5 ? [group] : [group, `${group}/${thing}`],
    images: next() < 0.5 ? [`https://images.example/${i}.jpg`] : [],
    backorder: next() < 0.1,
    onHand: decimal(String(Math.floor(next() * 1000)))
  }
}

/** Returns a random word. As in any language, a few words are common and most are rare. */
function word(next: () => number): string {
  return words[Math.floor(words.length ** next()) - 1] ?? 'steel'
}

/** A GTIN of 13 digits, from the range for use within a company. */
function gtin(i: number): string {
  const body = `2${String(i).padStart(11, '0')}`
  const sum = [...body].reduce((total, digit, place) => total + Number(digit) * (place % 2 === 0 ? 1 : 3), 0)
  return `${body}${(10 - (sum % 10)) % 10}`
}

/** The text of a file with a catalogue, in parts of a few hundred products. */
export function* catalogueText(items: Iterable<ImportItem>, format: keyof typeof exportFormats): Generator<string, void, undefined> {
  const { opening, write, closing } = exportFormats[format]
  yield opening
  let part: ReturnType<typeof exportedElement>[] = []
  for (const { id, draft } of items) {
    part.push(exportedElement({ ...draft, id, currency: draft.currency ?? 'EUR', onHand: draft.onHand ?? decimal('0') }))
    if (part.length < 500) continue
    yield write(part)
    part = []
  }
  yield write(part) + closing
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { products: text, seed: text, format: text } })
  const format = Object.keys(exportFormats).find((one): one is keyof typeof exportFormats => one === (values.format ?? 'xml'))
  if (!format) throw new Error(`--format must be one of ${Object.keys(exportFormats).join(', ')}`)
  for (const part of catalogueText(catalogue(Number(values.products ?? 1000), Number(values.seed ?? 1)), format)) {
    if (!process.stdout.write(part)) await once(process.stdout, 'drain')
  }
}
