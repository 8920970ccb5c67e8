import type { Connection } from '../stores/sqlite/connection.ts'

export interface Words {
  /** The number of products that a search finds. */
  count(match: string): number
  /** The two most common words of descriptions. */
  readonly common: readonly [string, string]
  /** The least common word of descriptions. */
  readonly seldom: string
  /** The most common two words of names that no product has together. */
  readonly apart: readonly [string, string]
}

/** Finds words in the index of a catalogue with which searches are as expensive as possible. */
export function findWords(db: Connection): Words {
  db.exec("CREATE VIRTUAL TABLE temp.word USING fts5vocab('main', 'product_text', 'col')")
  const words = (column: string, order: 'ASC' | 'DESC', limit: number) =>
    db
      .prepare<[string, number], string>(
        `SELECT term FROM temp.word WHERE col = ? AND term GLOB '[a-z]*' ORDER BY doc ${order}, term LIMIT ?`
      )
      .pluck()
      .all(column, limit)
  const matches = db.prepare<[string], number>('SELECT count(*) FROM product_text WHERE product_text MATCH ?').pluck()
  const count = (match: string) => matches.get(match) ?? 0
  const names = words('name', 'DESC', 30)
  const pairs = names.flatMap((one, i) => names.slice(0, i).map((other) => [other, one] as const))
  const apart = pairs.find((pair) => count(pair.join(' ')) === 0)
  const [first, second] = words('description', 'DESC', 2)
  const [seldom] = words('description', 'ASC', 1)
  if (!first || !second || !seldom || !apart) throw new Error('the catalogue has no such words')
  return { count, common: [first, second], seldom, apart }
}
