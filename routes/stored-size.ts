/** Charges requests for what they store, because the rate also limits how fast a caller can fill the disk. */

import type { FastifyRequest } from 'fastify'
import { encodedLength, isDeferred, jsonOf } from '../domain/deferred.ts'
import type { Order } from '../domain/order.ts'
import type { Placing } from '../domain/store.ts'

/** Bytes of a usual line of a stored order as JSON. */
const usualLine = 256

/** Lines of an order that costs no more than 1, however long the names of its products are. */
const fewLines = 32

/**
 * Writes an order, and charges the request for what is then stored: the order, the answer that its Idempotency-Key repeats, and the
 * document that it came from. A short line becomes a long one when it is stored, because it has the name of its product.
 *
 * Large documents of a caller are written one after the other, so each sees the charges of those before it. Smaller ones are written
 * together. So they are charged for their lines before the write, and refused if other requests have used up the rate meanwhile.
 * @param storedBy the order that the write has stored; undefined if it has stored none
 * @throws Problem `too-many-requests`
 */
export async function chargingForStored<Written>(
  request: FastifyRequest,
  { order, idempotency, document, mode }: Pick<Placing, 'order' | 'idempotency' | 'document' | 'mode'>,
  write: () => Promise<Written>,
  storedBy: (written: Written) => Order | undefined
): Promise<Written> {
  if (!request.charged || mode === 'dry-run') return write()
  const withOthers = (bytes: number) => (idempotency ? 2 : 1) * bytes + (document?.bytes?.length ?? 0)
  const lines = isDeferred(order) ? 0 : order.items.length
  let stored = 0
  request.chargeForStored(withOthers(usualLine * lines))
  try {
    const refusal = lines > fewLines ? request.rateRefusal() : undefined
    if (refusal) throw refusal
    const written = await write()
    const storedOrder = storedBy(written)
    if (storedOrder) stored = withOthers(encodedLength(jsonOf(storedOrder)))
    return written
  } finally {
    request.chargeForStored(stored)
  }
}
