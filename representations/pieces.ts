/** Work that is done in pieces of a few milliseconds each. Between two pieces others may have their turn. */
export type Pieces<Result> = Generator<undefined, Result, void>

/** The most items in one piece. An item takes 20 to 100 µs. */
export const itemsOfPiece = 50

/** A piece with this many characters gets no more items. Otherwise a page of the largest products would take 20 ms. */
export const weightOfPiece = 64 * 1024

/** Writes the items of a list some at a time. @param weightOf returns the number of characters of an item, for lists whose items can be long */
export function* inPieces<Item, Written>(
  items: readonly Item[],
  write: (some: readonly Item[]) => Written,
  weightOf: (item: Item) => number = () => 0
): Pieces<Written[]> {
  const written: Written[] = []
  let piece: Item[] = []
  let weight = 0
  for (const item of items) {
    if (piece.length === itemsOfPiece || weight >= weightOfPiece) {
      written.push(write(piece))
      yield
      piece = []
      weight = 0
    }
    piece.push(item)
    weight += weightOf(item)
  }
  if (piece.length > 0) written.push(write(piece))
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
