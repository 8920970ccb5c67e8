import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const tests = fileURLToPath(new URL('../', import.meta.url))

/** Folders of `test/` whose tests share one process per folder. The tests of buyers' documents and of feeds, in `routes/`, have a process each. All other folders share one. */
const folders = ['connections', 'http', 'plugins', 'routes', 'stores', 'webhooks'] as const

const isTestOf = (folder: string) => (file: string) => file.startsWith(`${folder}/`) && file.endsWith('.test.ts')
const isBuyers = (file: string) => /^routes\/buyers.*\.test\.ts$/.test(file)
const isFeed = (file: string) => /^routes\/(?:catalogue|event).*\.test\.ts$/.test(file)
const isCommand = (file: string) => /^cli\/.*\.process\.ts$/.test(file)
const isService = (file: string) => /^[^/]*\.process\.ts$/.test(file)

/** Which files of `test/` run in a process together. */
const groups = {
  connections: isTestOf('connections'),
  http: isTestOf('http'),
  plugins: isTestOf('plugins'),
  routes: (file) => isTestOf('routes')(file) && !isBuyers(file) && !isFeed(file),
  buyers: isBuyers,
  feeds: isFeed,
  stores: isTestOf('stores'),
  webhooks: isTestOf('webhooks'),
  others: (file) => file.endsWith('.test.ts') && !folders.some((folder) => isTestOf(folder)(file)),
  long: (file) => file.endsWith('.long.ts'),
  browser: (file) => file.endsWith('.browser.ts'),
  nginx: (file) => file.endsWith('.nginx.ts'),
  // The contract of the store is as long as all others together.
  postgres: (file) => file.endsWith('.postgres.ts') && file !== 'stores/store.postgres.ts',
  commands: isCommand,
  service: isService,
  otherProcesses: (file) => file.endsWith('.process.ts') && !isCommand(file) && !isService(file)
} satisfies Record<string, (file: string) => boolean>

/**
 * Loads test files into this process, one after the other: to start a process with the whole service for each of them takes
 * longer than most of them run. Each still runs alone, too (`npx tap test/http/head.test.ts`).
 */
export async function loadTests(group: keyof typeof groups): Promise<void> {
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(groups[group])
  for (const file of files.sort()) {
    try {
      await import(join(tests, file))
    } catch (error) {
      // The tests of the other files still run.
      t.fail(`test/${file} can be loaded`, { error })
    }
  }
}
