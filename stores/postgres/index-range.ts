/**
 * Queries of the rows of a range of an index, such as the events of one type after a position. They read little, whatever the statistics
 * of the table say:
 *
 * - The scan has only a start and a limit, and both name every column of one index. If the scan compared a column for equality,
 *   other indexes would fit, too. The planner would choose one of them if it believes that the value is common, or while few pages
 *   are marked as visible to all transactions (before the first VACUUM). Then it would read the whole table for a rare value.
 * - The end of the range is outside of the scan. PostgreSQL 15 stops a scan only by the first column of the end, unlike PostgreSQL 18. With
 *   the end inside, it would read all other rows that have the same value there.
 */

export interface IndexRange {
  readonly table: string
  /** All columns of an index, in its order. */
  readonly key: readonly string[]
  readonly direction: 'ASC' | 'DESC'
  /** SQL of the values of the key after which the range begins, in the direction of the range. */
  readonly start: readonly string[]
  /** The condition of the rows of the range. The range ends before the first row that does not meet it. */
  readonly within: string
}

/** The columns whose NULLs are in no index that begins with them. */
const sparse: readonly string[] = ['customer', 'order_number']

/** The last value of a bigint. */
export const highest = '9223372036854775807'

/** The columns of the key with the direction, for ORDER BY. */
export function orderOf({ key, direction }: Pick<IndexRange, 'key' | 'direction'>): string {
  return key.map((column) => `${column} ${direction}`).join(', ')
}

function scan({ table, key, direction, start }: IndexRange, limit: string): string {
  const comparison = direction === 'ASC' ? '>' : '<'
  // The planner does not infer these from the comparison, and needs them to use an index without NULL.
  const notNull = key.filter((column) => sparse.includes(column)).map((column) => ` AND ${column} IS NOT NULL`)
  return `SELECT * FROM ${table} WHERE (${key.join(', ')}) ${comparison} (${start.join(', ')})${notNull.join('')}
    ORDER BY ${orderOf({ key, direction })} LIMIT ${limit}`
}

/** A query of the first row of a range. @param columns SQL of what it selects */
export function firstOf(range: IndexRange, columns: string): string {
  return `SELECT ${columns} FROM (${scan(range, '1')}) AS first WHERE ${range.within}`
}

/**
 * A subquery of the first rows of a range, with all columns of the table. The scan stops at the first row that is not of the range,
 * because PostgreSQL knows that a count never falls. Before PostgreSQL 15, it stops at the limit.
 * @param limit SQL of the most rows
 */
export function firstRowsOf(range: IndexRange, limit: string): string {
  const beyond = `count(*) FILTER (WHERE NOT (${range.within})) OVER (ORDER BY ${orderOf(range)} ROWS UNBOUNDED PRECEDING)`
  return `SELECT * FROM (SELECT *, ${beyond} AS beyond FROM (${scan(range, limit)}) AS scanned) AS counted WHERE beyond < 1`
}
