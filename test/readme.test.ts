import { posix } from 'node:path'
import t from 'tap'
import { readConfig, settings } from '../config.ts'
import { buyerFaultCodes, faultCodes } from '../domain/fault-codes.ts'
import { problemTypes } from '../http/problem-types.ts'
import type { ApiDescription } from '../representations/api-description.ts'
import { build } from './build.ts'
import { anchors, blocks, isFile, pages, prose, read, relativeLinks, strayPages, table } from './readme/pages.ts'

const linking = [...pages, 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md']

t.test('every page of docs/ is checked, and its commands are run', async (t) => {
  t.same(strayPages(), [])
})

t.test('the table of settings is that of config.ts', async (t) => {
  const expected = Object.entries(settings).map(([name, { fallback, about }]) => [
    `\`${name}\``,
    fallback === '' ? 'none' : `\`${fallback}\``,
    about
  ])
  t.same(table(read('docs/operations.md'), 'settings'), expected)
})

t.test('the table of problem types is the registry', async (t) => {
  const expected = Object.entries(problemTypes).map(([code, { status, title }]) => [`\`${code}\``, String(status), title])
  t.same(table(read('docs/http-api.md'), 'problems'), expected)
})

t.test('the tables of fault codes are the registry', async (t) => {
  const inTicks = (text: string) => [...text.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, code = '']) => code)
  const api = read('docs/http-api.md')
  t.same(
    table(api, 'codes').flatMap(([codes = '']) => inTicks(codes)),
    [...faultCodes]
  )
  const [, ofBuyers = ''] = /These codes come only for .*?: ([\s\S]*?)\. Errors/.exec(api) ?? []
  t.same(inTicks(ofBuyers), [...buyerFaultCodes])
  const explained = table(read('docs/buyers.md'), 'faults').flatMap(([code = '']) => inTicks(code))
  t.same(explained.toSorted(), [...buyerFaultCodes, 'line-unknown', 'unknown-product'].sort())
})

t.test('the table of URIs is what the service offers, but for the forms that pages post', async (t) => {
  const { app } = await build(t)
  const { paths } = (await app.inject('/openapi.json')).json<ApiDescription>()
  const expected = Object.entries(paths).map(([path, item]) => {
    const methods = (['get', 'post', 'put', 'delete'] as const).filter((method) => !(item[method]?.operationId ?? 'Form').endsWith('Form'))
    return [path, methods.join(', ').toUpperCase()]
  })
  const shown = table(read('docs/http-api.md'), 'uris').flatMap(([uris = '', methods = '']) =>
    [...uris.matchAll(/`([^`]+)`/g)].map(([, uri = '']) => [uri, methods])
  )
  t.same(shown.sort(), expected.sort())
})

/** The files of the top folder that a room may import. */
const topFiles = ['config.ts', 'files.ts', 'garbage.ts', 'priority.ts', 'random-pool.ts']

t.test('the table of rooms is that of the linter', async (t) => {
  interface Override {
    readonly includes: readonly string[]
    readonly linter: { readonly rules: { readonly style: { readonly noRestrictedImports?: Restriction } } }
  }
  interface Restriction {
    readonly options: { readonly patterns?: readonly { readonly group: readonly string[] }[] }
  }
  const { overrides } = JSON.parse(read('biome.json')) as { overrides: readonly Override[] }
  const forbidden = new Map(
    overrides.flatMap(({ includes, linter }): [string, readonly string[]][] => {
      const room = /^([a-z]+)\/\*\*$/.exec(includes.join())?.[1]
      const patterns = linter.rules.style.noRestrictedImports?.options.patterns
      return room && patterns ? [[room, patterns.flatMap(({ group }) => group)]] : []
    })
  )
  const rooms = [...forbidden.keys()]
  const expected = rooms.map((room) => {
    const open = [
      ...rooms.map((other) => [other, `**/${other}/**`] as const),
      ...topFiles.map((file) => [file, `**/${file}`] as const)
    ].filter(([other, pattern]) => other !== room && !forbidden.get(room)?.includes(pattern))
    return [`\`${room}\``, open.map(([other]) => other).sort()]
  })
  const shown = table(read('docs/architecture.md'), 'rooms').map(([room = '', may = '']) => [
    room,
    [...may.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name).sort()
  ])
  t.ok(shown.length > 10)
  t.same(
    shown.sort(([a], [b]) => String(a).localeCompare(String(b))),
    expected.sort(([a], [b]) => String(a).localeCompare(String(b)))
  )
})

t.test('every default is a value that the setting takes', async (t) => {
  t.doesNotThrow(() => readConfig({}))
})

t.test('every link to another page, a picture or a heading leads there', async (t) => {
  for (const page of linking) {
    for (const link of relativeLinks(read(page))) {
      const [path = '', anchor] = link.split('#', 2)
      const target = path === '' ? page : posix.join(posix.dirname(page), path)
      t.ok(isFile(target), `${page} links to ${link}`)
      if (anchor !== undefined) t.ok(isFile(target) && anchors(read(target)).has(anchor), `${page} links to ${link}`)
    }
  }
  t.ok(linking.flatMap((page) => relativeLinks(read(page))).length > 20)
})

t.test('every file and folder of the project that a page names is there', async (t) => {
  const path = /`((?:\.ci|[a-z][\w-]*)(?:\/[\w.-]+)*(?:\/|\.(?:ts|js|json|xsd|eta|conf|yaml|sh|md)))`/g
  // The operator of a shop makes these.
  const made = ['docker/shop.env']
  for (const page of pages) {
    for (const [, name = ''] of prose(read(page)).matchAll(path)) t.ok(made.includes(name) || isFile(name), `${page} names ${name}`)
  }
})

t.test('a name that a page says is in a file is in it', async (t) => {
  let count = 0
  for (const page of pages) {
    for (const [, word = '', file = ''] of prose(read(page)).matchAll(/`(\w+)` in\s+`([\w/.-]+\.\w+)`/g)) {
      t.match(read(file), new RegExp(`\\b${word}\\b`), `${page}: ${word} in ${file}`)
      count++
    }
  }
  t.ok(count > 10)
})

t.test('no line of a page is too long to be read', async (t) => {
  for (const page of pages) {
    const long = read(page)
      .split('\n')
      .filter((line) => line.length > 400)
    t.same(
      long.map((line) => `${line.slice(0, 80)}… (${line.length})`),
      [],
      page
    )
  }
})

t.test('commands to paste work in any shell: zsh takes a bare ? or * for file names, and at its prompt a # for an argument', async (t) => {
  const pasted = pages.flatMap((page) => blocks(read(page))).filter(({ language }) => language === 'sh' || language === 'console')
  t.ok(pasted.length > 25)
  for (const { text } of pasted) {
    const bare = text.replace(/<<'(\w+)'[\s\S]*?^\1$/gm, '').replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, '')
    t.notMatch(bare, /https?:\S*[?*[]|(?:^|\s)#/m, text.split('\n')[0] ?? '')
  }
})
