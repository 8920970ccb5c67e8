import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const tests = fileURLToPath(new URL('../', import.meta.url))

/** The folders of `test/` whose tests run in a process together; all other tests share one more. */
const folders = ['http', 'plugins', 'routes', 'stores'] as const

type Folder = (typeof folders)[number]

/**
 * Loads test files into this process, one after the other: to start a process with the whole service for each of them takes
 * longer than most of them run. Each still runs alone, too (`npx tap test/http/head.test.ts`).
 */
export async function loadTests(folder: Folder | 'others'): Promise<void> {
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.test.ts'))
  const groupOf = (file: string) => folders.find((one) => file.startsWith(`${one}/`)) ?? 'others'
  for (const file of files.sort()) if (groupOf(file) === folder) await import(join(tests, file))
}
