import { readFileSync } from 'node:fs'
import t from 'tap'
import { readConfig, settings } from '../config.ts'
import { problemTypes } from '../http/problem-types.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** The rows of the table behind a marker, cell by cell. */
function table(marker: string): string[][] {
  const [, after = ''] = readme.split(`<!-- ${marker}`)
  const rows = /\n(\|[^\n]*\|\n)+/.exec(after)?.[0] ?? ''
  return rows
    .trim()
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim())
    )
}

t.test('the table of settings is that of config.ts', async (t) => {
  const expected = Object.entries(settings).map(([name, { fallback, about }]) => [
    `\`${name}\``,
    fallback === '' ? 'none' : `\`${fallback}\``,
    about
  ])
  t.same(table('settings'), expected)
})

t.test('the table of problem types is the registry', async (t) => {
  const expected = Object.entries(problemTypes).map(([code, { status, title }]) => [`\`${code}\``, String(status), title])
  t.same(table('problems'), expected)
})

t.test('every default is a value that the setting takes', async (t) => {
  t.doesNotThrow(() => readConfig({}))
})

t.test('what is shown fits a page: no line is too long to be read', async (t) => {
  const long = readme.split('\n').filter((line) => line.length > 400)
  t.same(
    long.map((line) => `${line.slice(0, 80)}… (${line.length})`),
    []
  )
})

t.test(
  'what is to be pasted works in any shell: zsh takes a bare ? or * for file names, and at its prompt a # for an argument',
  async (t) => {
    const blocks = [...readme.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)
    t.ok(blocks.length > 10)
    for (const block of blocks) {
      const bare = block.replace(/<<'(\w+)'[\s\S]*?^\1$/gm, '').replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, '')
      t.notMatch(bare, /https?:\S*[?*[]|(?:^|\s)#/m, block.split('\n')[0] ?? '')
    }
  }
)
