import type { OrderQuery } from '../../domain/store.ts'

const filters: readonly (readonly Partial<OrderQuery>[])[] = [
  [{}, { customer: 'acme' }],
  [{}, { status: 'received' }],
  [{}, { orderNumber: 'PO-1' }],
  [{}, { placedSince: 1_000 }],
  [{}, { modifiedSince: 2_000 }],
  [{ order: 'newest' }, { order: 'oldest' }]
]

/** Every combination of the filters of a list of orders, in both orders. */
export function everyOrderQuery(): readonly OrderQuery[] {
  return filters.reduce<OrderQuery[]>(
    (queries, filter) => queries.flatMap((query) => filter.map((more) => ({ ...query, ...more }))),
    [{ limit: 10 }]
  )
}
