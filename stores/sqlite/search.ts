/** Full-text search with SQLite's FTS5 (https://sqlite.org/fts5.html): the index and the search expressions. */

import { hash } from 'node:crypto'
import { hasSearchWord } from '../../domain/product.ts'
import { findsLonger, type Searchable, searchTerms } from '../search-words.ts'
import type { Connection } from './connection.ts'

/**
 * The expression that finds all words of a text, within a category if one is given; undefined if the text has no word.
 * Every word is a quoted string, in which quotes are doubled, so nothing in it is an operator. A star after the string also
 * finds the words that begin with it.
 */
export function matchExpression(text: string, category: string | undefined): string | undefined {
  const terms = searchTerms(text).filter(({ word }) => hasSearchWord(word))
  if (terms.length === 0) return undefined
  const quoted = (phrase: string) => `"${phrase.replaceAll('"', '""')}"`
  const phrase = (word: string) => `${quoted(word)}${findsLonger(word) ? ' *' : ''}`
  const single = terms.filter(({ synonyms }) => synonyms.length === 0).map(({ word }) => phrase(word))
  const several = terms.filter(({ synonyms }) => synonyms.length > 0)
  const any = several.map(({ word, synonyms }) => `(${[phrase(word), ...synonyms.map(quoted)].join(' OR ')})`)
  // Strings without an operator between them mean AND. Unlike the operator, this ignores a string without tokens.
  const all = [...(single.length > 0 ? [single.join(' ')] : []), ...any].join(' AND ')
  const within = category === undefined ? '' : ` AND facet : "${facet(category)}"`
  return `{identity name description categories} : (${all})${within}`
}

/** A category as one token, whatever characters it has. */
function facet(category: string): string {
  return `c${hash('sha256', category).slice(0, 32)}`
}

function texts({ id, gtin, name, description = '', categories }: Searchable): string[] {
  const identity = gtin === undefined ? id : `${id} ${gtin}`
  return [identity, name, description, categories.join('\n'), categories.map(facet).join(' ')]
}

/**
 * Changes of the index, which are buffered until the end of a transaction: at every savepoint FTS5 writes its memory to a new
 * segment (fts5_main.c, fts5SavepointMethod), which halves the rate of an import.
 */
export interface TextIndex {
  /** Replaces the indexed texts of a product if they have changed. Undefined stands for a product that is not active. */
  write(seq: number, before: Searchable | undefined, now: Searchable | undefined): void
  /** The number of buffered changes. `dropAfter` drops the changes after it. */
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
