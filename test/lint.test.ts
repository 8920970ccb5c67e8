import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const biome = fileURLToPath(new URL('../node_modules/@biomejs/biome/bin/biome', import.meta.url))
const config = JSON.parse(readFileSync(new URL('../biome.json', import.meta.url), 'utf8')) as Record<string, unknown>

const importing = (module: string) => `import { x } from '${module}'\n\nexport const y = x\n`
const restricted = 'lint/style/noRestrictedImports'

/** A file that breaks a rule of the house, and the rule that must say so. */
const violations: readonly (readonly [file: string, source: string, rule: string])[] = [
  ['domain/a.ts', importing('../stores/open.ts'), restricted],
  ['domain/b.ts', importing('../schemas/xml.ts'), restricted],
  ['domain/c.ts', importing('../config.ts'), restricted],
  ['stores/sqlite/a.ts', importing('../../xml/gate.ts'), restricted],
  ['stores/sqlite/f.ts', importing('../postgres/rows.ts'), restricted],
  ['stores/postgres/a.ts', importing('../sqlite/rows.ts'), restricted],
  ['stores/j.ts', importing('./sqlite/rows.ts'), restricted],
  ['stores/k.ts', "export const y = await import('./postgres/rows.ts')\n", restricted],
  ['stores/b.ts', importing('../schemas/xml.ts'), restricted],
  ['stores/c.ts', "import type { x } from '../app.ts'\n\nexport type Y = x\n", restricted],
  ['stores/d.ts', importing('fastify'), restricted],
  ['stores/h.ts', importing('../stopping.ts'), restricted],
  ['stores/sqlite/e.ts', importing('better-sqlite3'), restricted],
  ['test/b.ts', importing('better-sqlite3'), restricted],
  ['bench/a.ts', importing('better-sqlite3'), restricted],
  ['cli/b.ts', importing('better-sqlite3'), restricted],
  ['schemas/a.ts', importing('../stores/open.ts'), restricted],
  ['stores/i.ts', importing('../load-error.ts'), restricted],
  ['domain/k.ts', importing('../cli.ts'), restricted],
  ['schemas/b.ts', importing('../representations/links.ts'), restricted],
  ['schemas/c.ts', importing('libxmljs2'), restricted],
  ['representations/a.ts', importing('../xml/gate.ts'), restricted],
  ['http/a.ts', importing('../plugins/auth.ts'), restricted],
  ['http/b.ts', importing('../stores/open.ts'), restricted],
  ['openapi/a.ts', importing('../plugins/auth.ts'), restricted],
  ['fairness/a.ts', importing('../http/problem.ts'), restricted],
  ['background/a.ts', importing('../http/problem.ts'), restricted],
  ['domain/h.ts', importing('../background/readiness.ts'), restricted],
  ['logging/a.ts', importing('../plugins/logging.ts'), restricted],
  ['representations/views/b.ts', importing('../../stores/open.ts'), restricted],
  ['plugins/a.ts', importing('../stores/open.ts'), restricted],
  ['plugins/b.ts', importing('../routes/order.ts'), restricted],
  ['plugins/c.ts', importing('libxmljs2'), restricted],
  ['plugins/d.ts', "export const y = await import('libxmljs2')\n", restricted],
  ['plugins/f.ts', importing('../xml/gate.ts'), restricted],
  ['documents/a.ts', importing('../stores/open.ts'), restricted],
  ['documents/b.ts', importing('libxmljs2'), restricted],
  ['documents/c.ts', importing('fastify'), restricted],
  ['documents/d.ts', importing('../plugins/auth.ts'), restricted],
  ['routes/a.ts', importing('../stores/open.ts'), restricted],
  ['routes/b.ts', importing('../app.ts'), restricted],
  ['routes/c.ts', importing('libxmljs2'), restricted],
  ['sample.ts', importing('libxmljs2'), restricted],
  ['listening.ts', importing('./plugins/auth.ts'), restricted],
  ['stopping.ts', importing('./routes/order.ts'), restricted],
  ['routes/e.ts', importing('pg'), restricted],
  ['stores/g.ts', importing('pg'), restricted],
  ['stores/sqlite/g.ts', importing('pg'), restricted],
  ['domain/g.ts', importing('../files.ts'), restricted],
  ['routes/f.ts', importing('../random-pool.ts'), restricted],
  ['xml/f.ts', importing('../priority.ts'), restricted],
  ['routes/d.ts', "export const y = process.env['A']\n", 'lint/style/noProcessEnv'],
  ['server.ts', "export const y = process.env['A']\n", 'lint/style/noProcessEnv'],
  ['domain/d.ts', importing('fastify'), restricted],
  ['domain/e.ts', importing('libxmljs2'), restricted],
  ['xml/e.ts', importing('../stores/open.ts'), restricted],
  ['webhooks/a.ts', importing('../stores/open.ts'), restricted],
  ['webhooks/b.ts', importing('fastify'), restricted],
  ['cli/a.ts', importing('libxmljs2'), restricted],
  ['cli/c.ts', importing('../plugins/auth.ts'), restricted],
  ['domain/f.ts', 'export const y: any = 1\n', 'lint/suspicious/noExplicitAny'],
  ['domain/i.ts', "import type { J } from './j.ts'\n\nexport type I = J\n", 'lint/suspicious/noImportCycles'],
  ['domain/j.ts', "import type { I } from './i.ts'\n\nexport type J = I\n", 'lint/suspicious/noImportCycles'],
  ['test/a.ts', 'export const y: any = 1\n', 'lint/suspicious/noExplicitAny']
]

const allowed: readonly (readonly [file: string, source: string])[] = [
  ['app.ts', importing('./plugins/auth.ts')],
  ['stores/postgres/ok.ts', importing('pg')],
  ['domain/ok.ts', importing('./money.ts')],
  ['stores/sqlite/connection.ts', importing('better-sqlite3')],
  ['stores/open.ts', "export const y = await import('./sqlite/store.ts')\n"],
  ['stores/ok.ts', importing('../domain/money.ts')],
  ['representations/ok.ts', importing('../schemas/xml.ts')],
  ['routes/ok.ts', importing('../http/problem.ts')],
  ['xml/ok.ts', importing('libxmljs2')],
  ['documents/ok.ts', importing('../xml/gate.ts')],
  ['test/ok.ts', importing('libxmljs2')],
  ['config.ts', "export const y = process.env['A']\n"]
]

t.test('the import rule and the other rules of the house fail the lint where they are broken, and only there', async (t) => {
  const folder = t.testdir({ 'biome.json': JSON.stringify({ ...config, vcs: { enabled: false } }) })
  for (const [file, source] of [...violations, ...allowed]) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), source)
  }
  const lint = [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.']
  const { stdout, status } = spawnSync(process.execPath, lint, { cwd: folder, encoding: 'utf8' })
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string | { file: string } } }[] }
  const rulesFor = (file: string) =>
    diagnostics
      .filter(({ location: { path } }) => (typeof path === 'string' ? path : path.file).replace(/^\.\//, '') === file)
      .map(({ category }) => category)
  t.equal(status, 1)
  for (const [file, source, rule] of violations) t.same(rulesFor(file), [rule], `${file}: ${source.trim()}`)
  for (const [file, source] of allowed) t.same(rulesFor(file), [], `${file}: ${source.trim()}`)
})
