/** Formats rows with a heading: aligned on a terminal, tab-separated otherwise. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[], isTerminal: boolean): string {
  const table = [headings, ...rows]
  if (!isTerminal) return table.map((row) => `${row.join('\t')}\n`).join('')
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
