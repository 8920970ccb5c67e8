import type { Shop } from '../../domain/order-writes.ts'
import type { ActiveOrderNumbers } from './active-order-numbers.ts'
import type { EventLog } from './event-log.ts'
import type { IdempotencyKeys } from './idempotency.ts'
import type { SentDocuments } from './order-documents.ts'
import type { StockLedger } from './stock-ledger.ts'

/** The locked data with which the commands of one transaction are decided. Each command sees the results of those before it. */
export interface OrderBatch extends Shop {
  readonly inventory: StockLedger
  readonly keys: IdempotencyKeys
  readonly numbers: ActiveOrderNumbers
  readonly events: EventLog
  readonly sent: SentDocuments
}
