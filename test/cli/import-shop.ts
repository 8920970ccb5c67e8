import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { openStore } from '../../stores/open.ts'
import { type Ran, run } from './run.ts'

/** A new database, and imports into it. */
export async function newShop(t: Test) {
  const folder = t.testdir()
  const settings = { DATABASE_URL: `sqlite:${join(folder, 'shop.db')}` }
  await (await openStore(settings.DATABASE_URL, 'EUR')).close()
  return {
    store: () => openStore(settings.DATABASE_URL, 'EUR'),
    async importText(name: string, text: string | Buffer, ...options: string[]): Promise<Ran> {
      const file = join(folder, name)
      writeFileSync(file, text)
      const { stderr, ...rest } = await run(['import', file, ...options], settings)
      return { ...rest, stderr: stderr.replaceAll(`${folder}/`, '') }
    },
    importInput: (text: string, ...options: string[]) => run(['import', '-', ...options], settings, text)
  }
}

/** The line on standard output of an import. */
export const summary = (created: number, replaced: number, unchanged: number, refused: number) =>
  `${created + replaced + unchanged + refused} read: ${created} created, ${replaced} replaced, ${unchanged} unchanged, ${refused} refused\n`
