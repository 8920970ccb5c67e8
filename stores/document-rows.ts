/** The rows of the documents that orders came from. */

import type { OrderDocument, StoredDocument, WholeOrderDocument } from '../domain/order.ts'

/** The columns of the document that an order came from. They are null where the order has none. */
export interface DocumentRow {
  readonly media_type: string | null
  readonly digest: string | null
  readonly revision: string | null
  /** JSON. */
  readonly answer: string | null
}

export interface DocumentSizeRow extends DocumentRow {
  readonly size: number | null
}

export interface WholeDocumentRow extends DocumentRow {
  readonly bytes: Uint8Array | null
}

const commonColumns = 'd.media_type, d.digest, d.revision, d.answer'
export const documentColumns = `${commonColumns}, octet_length(d.bytes) AS size`
export const wholeDocumentColumns = `${commonColumns}, d.bytes`

/** Undefined where the order of the row has no document. */
export function documentFrom({ size, ...row }: DocumentSizeRow): StoredDocument | undefined {
  const document = documentOf(row)
  return document && { ...document, size: size ?? 0 }
}

function documentOf({ media_type, digest, revision, answer }: DocumentRow): OrderDocument | undefined {
  if (media_type === null || digest === null || answer === null) return undefined
  return { mediaType: media_type, digest, ...(revision === null ? {} : { revision }), answer: JSON.parse(answer) }
}

export function wholeDocumentFrom({ bytes, ...row }: WholeDocumentRow): WholeOrderDocument | undefined {
  const document = documentOf(row)
  return document && bytes ? { ...document, bytes } : undefined
}
