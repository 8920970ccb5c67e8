/** The row of a query that always finds one. @throws Error if it finds none */
export function requiredRow<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the database did not return a row that it always has')
  return row
}
