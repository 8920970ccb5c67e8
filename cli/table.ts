/** Rows for people, with a heading, on a terminal; tab-separated and without one for whatever else reads them. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[], isTerminal: boolean): string {
  if (!isTerminal) return rows.map((row) => `${row.join('\t')}\n`).join('')
  const table = [headings, ...rows]
  const widths = headings.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  return table
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`
    )
    .join('')
}
