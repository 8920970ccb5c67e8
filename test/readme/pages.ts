/** The pages for readers: the README and those in docs/, in the order in which a reader meets them. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** Names relative to the root folder. */
export const pages = [
  'README.md',
  'docs/http-api.md',
  'docs/buyers.md',
  'docs/erp.md',
  'docs/operations.md',
  'docs/architecture.md'
] as const

export interface Block {
  readonly language: string
  readonly text: string
  /** Offset of the text in the page. */
  readonly at: number
}

export function read(page: string): string {
  return readFileSync(`${root}${page}`, 'utf8')
}

/** Pages that are there and that `pages` does not name. */
export function strayPages(): readonly string[] {
  const there = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
  return there.map((name) => `docs/${name}`).filter((name) => !pages.some((page) => page === name))
}

export function isFile(path: string): boolean {
  return existsSync(`${root}${path}`)
}

/** The fenced blocks of a page, in order. */
export function blocks(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ 0: whole, 1: language = '', 2: text = '', index }) => ({
    language,
    text,
    at: index + whole.indexOf('\n') + 1
  }))
}

/** A page without its fenced blocks. */
export function prose(markdown: string): string {
  return markdown.replace(/^```\w*\n[\s\S]*?^```$/gm, '')
}

/** The rows of the table behind a marker, cell by cell. */
export function table(markdown: string, marker: string): string[][] {
  const [, after = ''] = markdown.split(`<!-- ${marker}`)
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

/** The anchors of a page's headings, as GitHub makes them. */
export function anchors(markdown: string): ReadonlySet<string> {
  const seen = new Map<string, number>()
  const headings = [...prose(markdown).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) => {
      const text = heading.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const slug = text.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-')
      const count = seen.get(slug) ?? 0
      seen.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    })
  )
}

/** The targets of a page's links and pictures, but for those that lead elsewhere. */
export function relativeLinks(markdown: string): readonly string[] {
  const targets = [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}
