/** Work that is done in pieces of a few milliseconds each. Between two pieces others may have their turn. */
export type Pieces<Result> = Generator<undefined, Result, void>

/** Items that are written in one piece. Each takes 20 to 100 µs. */
export const itemsOfPiece = 50

/** Writes the items of a list some at a time. */
export function* inPieces<Item, Written>(items: readonly Item[], write: (some: readonly Item[]) => Written): Pieces<Written[]> {
  const written: Written[] = []
  for (let from = 0; from < items.length; from += itemsOfPiece) {
    if (from > 0) yield
    written.push(write(items.slice(from, from + itemsOfPiece)))
  }
  return written
}

/** Does the pieces, and waits for a turn before each of them. */
export async function inTurns<Result>(pieces: Pieces<Result>, nextTurn: () => Promise<unknown>): Promise<Result> {
  for (;;) {
    await nextTurn()
    const { done, value } = pieces.next()
    if (done) return value
  }
}

/** Does all pieces one after the other. */
export function atOnce<Result>(pieces: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = pieces.next()
    if (done) return value
  }
}
