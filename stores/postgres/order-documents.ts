import type { Queries } from './database.ts'

/** The document that an order came from, as it was sent but for its secrets. */
export interface OrderDocument {
  readonly orderId: string
  readonly bytes: Uint8Array
}

/** Sends the documents of orders whose rows are there, without waiting for the answer. The last document of an order is kept. */
export function writeOriginals({ query }: Queries, documents: readonly OrderDocument[]): void {
  const last = [...new Map(documents.map((document) => [document.orderId, document])).values()]
  if (last.length === 0) return
  void query(
    `INSERT INTO order_document (order_id, bytes) SELECT n.id, n.bytes FROM unnest($1::uuid[], $2::bytea[]) AS n (id, bytes)
      ON CONFLICT (order_id) DO UPDATE SET bytes = excluded.bytes`,
    [last.map(({ orderId }) => orderId), last.map(({ bytes }) => Buffer.from(bytes))]
  )
}
