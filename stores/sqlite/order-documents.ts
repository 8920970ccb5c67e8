import { orderNotFound } from '../../domain/errors.ts'
import type { Order } from '../../domain/order.ts'
import type { OrderWriteOptions } from '../../domain/store.ts'
import {
  type DocumentRow,
  documentColumns,
  documentFrom,
  type WholeDocumentRow,
  wholeDocumentColumns,
  wholeDocumentFrom
} from '../document-rows.ts'
import type { Connection } from './connection.ts'
import type { Sync } from './write-verbs.ts'

/** Writes the documents that orders came from. */
export function makeOrderDocuments(db: Connection) {
  const insert = db.prepare<[WholeDocumentRow & { readonly id: string }]>(
    `INSERT INTO order_document (seq, media_type, digest, revision, answer, bytes)
      SELECT seq, @media_type, @digest, @revision, @answer, @bytes FROM purchase_order WHERE id = @id
      ON CONFLICT (seq) DO UPDATE SET media_type = excluded.media_type, digest = excluded.digest, revision = excluded.revision,
        answer = excluded.answer, bytes = excluded.bytes`
  )
  const update = db.prepare<[Omit<DocumentRow, 'media_type'> & { readonly id: string }]>(
    `UPDATE order_document SET digest = @digest, revision = @revision, answer = @answer
      WHERE seq = (SELECT seq FROM purchase_order WHERE id = @id)`
  )
  const remember = db.prepare<[{ readonly id: string; readonly digest: string }]>(
    `INSERT INTO sent_document (customer, digest, seq) SELECT customer, @digest, seq FROM purchase_order
      WHERE id = @id AND customer IS NOT NULL ON CONFLICT DO NOTHING`
  )
  const find = db.prepare<[string, string], Pick<Order, 'id' | 'status'>>(
    'SELECT o.id, o.status FROM sent_document d JOIN purchase_order o ON o.seq = d.seq WHERE d.customer = ? AND d.digest = ?'
  )
  return {
    orderOf: (customer: string, digest: string) => find.get(customer, digest),
    write(id: string, { mediaType, digest, revision, answer, bytes }: NonNullable<OrderWriteOptions['document']>): void {
      const row = { id, digest, revision: revision ?? null, answer: JSON.stringify(answer) }
      if (bytes) insert.run({ ...row, media_type: mediaType, bytes })
      else update.run(row)
      remember.run({ id, digest })
    }
  }
}

/** Reads the document of an order; undefined when it has none. Both verbs throw DomainError `order-not-found`. */
export function makeDocumentReader(db: Connection): Sync<'documentOf' | 'wholeDocumentOf'> {
  function reader<Row, Document>(columns: string, from: (row: Row) => Document): (id: string) => Document {
    const select = db.prepare<[string], Row>(
      `SELECT ${columns} FROM purchase_order o LEFT JOIN order_document d ON d.seq = o.seq WHERE o.id = ?`
    )
    return (id) => {
      const row = select.get(id)
      if (!row) throw orderNotFound()
      return from(row)
    }
  }
  return { documentOf: reader(documentColumns, documentFrom), wholeDocumentOf: reader(wholeDocumentColumns, wholeDocumentFrom) }
}
