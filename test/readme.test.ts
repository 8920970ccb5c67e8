import { readFileSync } from 'node:fs'
import t from 'tap'
import { readConfig, settings } from '../config.ts'
import { problemTypes } from '../plugins/problem-types.ts'

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
