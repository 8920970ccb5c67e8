/** Full text in SQLite's FTS5 (https://sqlite.org/fts5.html): what is indexed, and how a search becomes an expression. */

import { createHash } from 'node:crypto'
import type { Product } from '../../domain/product.ts'
import { findsLonger } from '../search-words.ts'
import type { Connection } from './connection.ts'

type Searchable = Pick<Product, 'id' | 'name' | 'description' | 'categories' | 'gtin'>

/**
 * The expression for all words of a text, within a category if one is given; undefined when the text has no word.
 * Every word is a quoted string, so that nothing in it is an operator; inside one a quote is doubled. A star behind it
 * finds what begins with it.
 */
export function matchExpression(text: string, category: string | undefined): string | undefined {
  const words = new Set(text.split(/[\s\p{Cc}]+/u).filter((word) => /[\p{L}\p{N}\p{Co}]/u.test(word)))
  if (words.size === 0) return undefined
  // Side by side is AND, and unlike the operator it passes over a string in which the tokenizer finds nothing.
  const phrases = [...words].map((word) => `"${word.replaceAll('"', '""')}"${findsLonger(word) ? ' *' : ''}`).join(' ')
  const within = category === undefined ? '' : ` AND facet : "${facet(category)}"`
  return `{identity name description categories} : (${phrases})${within}`
}

/** One token a category, whatever characters it has. */
function facet(category: string): string {
  return `c${createHash('sha256').update(category).digest('hex').slice(0, 32)}`
}

function texts({ id, gtin, name, description = '', categories }: Searchable): string[] {
  const identity = gtin === undefined ? id : `${id} ${gtin}`
  return [identity, name, description, categories.join('\n'), categories.map(facet).join(' ')]
}

/**
 * What is to be written to the index, kept back until the end of a transaction: at every savepoint FTS5 writes out what
 * it has in memory as a segment of its own (fts5_main.c, fts5SavepointMethod), which halves the rate of an import.
 */
export interface TextIndex {
  /** Replaces what is indexed of a product by its texts of now, if they differ; undefined where it is not active. */
  write(seq: number, before: Searchable | undefined, now: Searchable | undefined): void
  /** The number of changes that are kept back. Those after a mark can be dropped. */
  mark(): number
  dropAfter(mark: number): void
  flush(): void
}

interface Change {
  readonly seq: number
  readonly indexed: boolean
  readonly now: Searchable | undefined
}

export function makeTextIndex(db: Connection): TextIndex {
  const insert = db.prepare('INSERT INTO product_text (rowid, identity, name, description, categories, facet) VALUES (?, ?, ?, ?, ?, ?)')
  const remove = db.prepare<[number]>('DELETE FROM product_text WHERE rowid = ?')
  const json = (p: Searchable | undefined) => p && JSON.stringify([p.id, p.name, p.description, p.categories, p.gtin])
  const changes: Change[] = []

  return {
    write(seq, before, now) {
      if (json(before) !== json(now)) changes.push({ seq, indexed: before !== undefined, now })
    },
    mark() {
      return changes.length
    },
    dropAfter(mark) {
      changes.length = mark
    },
    flush() {
      for (const { seq, indexed, now } of changes) {
        if (indexed) remove.run(seq)
        if (now) insert.run(seq, ...texts(now))
      }
      changes.length = 0
    }
  }
}
