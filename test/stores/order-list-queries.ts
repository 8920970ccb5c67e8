import type { OrderQuery } from '../../domain/store.ts'

/** Every combination of the filters of a list of orders, in both orders. */
export function* everyOrderQuery(): Generator<OrderQuery> {
  for (const customer of [{}, { customer: 'acme' }])
    for (const status of [{}, { status: 'received' }] as const)
      for (const number of [{}, { orderNumber: 'PO-1' }])
        for (const placed of [{}, { placedSince: 1_000 }])
          for (const modified of [{}, { modifiedSince: 2_000 }])
            for (const order of ['newest', 'oldest'] as const)
              yield { limit: 10, order, ...customer, ...status, ...number, ...placed, ...modified }
}
