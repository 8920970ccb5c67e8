import type { Order, OrderDocument } from '../../domain/order.ts'
import type { OrderWriteOptions, Placing } from '../../domain/store.ts'
import type { Queries } from './database.ts'

/** A document for an order. Without `bytes`, the order keeps those that it has. */
export type WrittenDocument = { readonly orderId: string } & NonNullable<OrderWriteOptions['document']>

/** The orders of documents that were sent before, by customer and digest: those that a batch asks for, and those that it adds. */
export class SentDocuments {
  readonly #orders = new Map<string, Pick<Order, 'id' | 'status'>>()

  static async read({ query }: Queries, placings: readonly Placing[]): Promise<SentDocuments> {
    const sent = new SentDocuments()
    const wanted = placings.flatMap(({ customer, document }) =>
      customer === undefined || !document ? [] : { customer, digest: document.digest }
    )
    if (wanted.length === 0) return sent
    const rows = await query<Pick<Order, 'id' | 'status'> & { readonly customer: string; readonly digest: string }>(
      `SELECT d.customer, d.digest, o.id, o.status FROM sent_document d JOIN purchase_order o ON o.id = d.order_id
        WHERE (d.customer, d.digest) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      [wanted.map(({ customer }) => customer), wanted.map(({ digest }) => digest)]
    )
    for (const { customer, digest, id, status } of rows) sent.add({ customer, id, status }, { digest })
    return sent
  }

  /** A document stays with its first order. */
  add({ customer, id, status }: Pick<Order, 'customer' | 'id' | 'status'>, { digest }: Pick<OrderDocument, 'digest'>): void {
    const name = JSON.stringify([customer, digest])
    if (customer !== undefined && !this.#orders.has(name)) this.#orders.set(name, { id, status })
  }

  find(customer: string, digest: string): Pick<Order, 'id' | 'status'> | undefined {
    return this.#orders.get(JSON.stringify([customer, digest]))
  }
}

/** Sends documents in the order of their writes, without waiting for the answer. The rows of their orders must be sent before. */
export function writeDocuments(queries: Queries, documents: readonly WrittenDocument[]): void {
  for (const document of documents) writeDocument(queries, document)
}

function writeDocument({ query }: Queries, { orderId, mediaType, digest, revision, answer, bytes }: WrittenDocument): void {
  void query(
    `INSERT INTO sent_document (customer, digest, order_id) SELECT customer, $2, id FROM purchase_order
      WHERE id = $1 AND customer IS NOT NULL ON CONFLICT DO NOTHING`,
    [orderId, digest]
  )
  const common = [orderId, digest, revision ?? null, JSON.stringify(answer)]
  if (!bytes) {
    void query('UPDATE order_document SET digest = $2, revision = $3, answer = $4::json WHERE order_id = $1', common)
    return
  }
  void query(
    `INSERT INTO order_document (order_id, digest, revision, answer, media_type, bytes) VALUES ($1, $2, $3, $4::json, $5, $6)
      ON CONFLICT (order_id) DO UPDATE SET media_type = excluded.media_type, digest = excluded.digest, revision = excluded.revision,
        answer = excluded.answer, bytes = excluded.bytes`,
    [...common, mediaType, bytes]
  )
}
