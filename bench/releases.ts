/** Runs this release of the service, and an earlier one that has been built, as processes side by side. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../test/cli/compile.ts'
import { newFolder, pick, type Settings } from './measure.ts'
import { listening, startProcess, succeeds, type Watched } from './process.ts'
import { post, productIds } from './shop.ts'

export interface Release {
  readonly name: string
  readonly port: number
  readonly service: Watched
}

/** The folders of the compiled releases to measure, by name: an earlier one if the command line names it, and this one. */
export async function builds(before: string | undefined): Promise<readonly (readonly [name: string, folder: string])[]> {
  const now = ['now', await compile()] as const
  return before === undefined ? [now] : [['before', join(before, 'dist')], now]
}

const folders: string[] = []
process.once('exit', () => {
  for (const made of folders) rmSync(made, { recursive: true, force: true })
})

/** Makes a folder that is removed when this process ends. */
export function folder(directory: string): string {
  const made = newFolder(directory)
  folders.push(made)
  return made
}

/** Products whose names have 250 characters. An order of all of them is answered with 5 MB of XML. */
export const longNamed: readonly string[] = Array.from({ length: 10_000 }, (_, i) => `LONG-${i}`)

/** Products with stock that does not run out. `ABC-1` is the product that bench/hostile.ts requests. */
export function catalogue(ids: readonly string[]): string {
  const name = 'Hex bolt M8 × 40, zinc plated'
  const product = (id: string) =>
    `<product id="${id}"><name>${id.startsWith('LONG-') ? name.padEnd(250, '.') : name}</name><description>${'Steel, strength class 8.8, DIN 933. '.repeat(6)}</description>` +
    '<price>9.99</price><unit>C62</unit><category>Fasteners</category><on-hand>900000000</on-hand></product>'
  return `<catalogue>${ids.map(product).join('')}</catalogue>`
}

/** Makes a database with the products. @param build the folder of a compiled release. @param more ids of further products. @returns its path */
export async function makeDatabase(directory: string, build: string, more: readonly string[] = []): Promise<string> {
  const file = join(folder(directory), 'catalogue.xml')
  writeFileSync(file, catalogue(['ABC-1', ...productIds, ...more]))
  const path = join(folder(directory), 'shop.db')
  const imported = startProcess(join(build, 'cli.js'), ['import', file], { DATABASE_URL: `sqlite:${path}` })
  imported.child.stdout?.resume()
  await succeeds(imported)
  return path
}

/** Starts each release with its own database. All have the same products. */
export async function startReleases(
  { directory, before }: Settings,
  settings: Readonly<Record<string, string>>,
  more: readonly string[] = []
): Promise<readonly Release[]> {
  const releases: Release[] = []
  for (const [name, build] of await builds(before)) {
    const service = startProcess(join(build, 'server.js'), [], {
      DATABASE_URL: `sqlite:${await makeDatabase(directory, build, more)}`,
      HOST: '127.0.0.1',
      PORT: '0',
      SAMPLE_CATALOGUE: 'off',
      ...settings
    })
    releases.push({ name, port: Number(new URL(await listening(service)).port), service })
  }
  return releases
}

/** A POST request with an order of this many lines, as XML. */
export function order(lines: number, next: () => number): string {
  return orderOf(
    Array.from({ length: lines }, () => pick(next, productIds)),
    next
  )
}

/** A POST request with an order of these products, as XML. */
export function orderOf(ids: readonly string[], next: () => number): string {
  return post(
    'application/xml',
    orderBody(ids, () => 1 + Math.floor(9 * next()))
  )
}

/** An order of these products, as XML. */
export function orderBody(ids: readonly string[], quantity: () => number): string {
  const items = ids.map((id) => `<item><product-id>${id}</product-id><quantity>${quantity()}</quantity></item>`)
  return `<purchase-order>${items.join('')}</purchase-order>`
}
