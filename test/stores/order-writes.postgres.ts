/** The rules of orders on the transactions themselves, one command each, without the threads and batches around them. */

import t from 'tap'
import type { Order } from '../../domain/order.ts'
import type { Placed, Store } from '../../domain/store.ts'
import { Database } from '../../stores/postgres/database.ts'
import { makeOrderWrites, type OrderCommand } from '../../stores/postgres/order-writes.ts'
import { openPostgresStore } from '../../stores/postgres/store.ts'
import type { Rule } from './contract.ts'
import { largeContract } from './contract-large.ts'
import { orderContract } from './contract-orders.ts'
import { placingContract } from './contract-placing.ts'
import { postgresFor } from './embedded.ts'
import { shopCurrency } from './fixtures.ts'
import { newShopDatabase } from './new-database.ts'

const server = await postgresFor(t)

async function open(): Promise<Store> {
  const url = await newShopDatabase(server)
  const store = await openPostgresStore({ url, currency: shopCurrency })
  const database = new Database(url, 2)
  const write = makeOrderWrites(database, shopCurrency, 'order')
  async function run<Written extends Placed | Order>(command: OrderCommand): Promise<Written> {
    const [outcome] = await write([command])
    if (outcome && 'value' in outcome) return outcome.value as Written
    throw outcome?.error
  }
  return {
    ...store,
    placeOrder: (...args) => run({ verb: 'placeOrder', args }),
    changeOrder: (...args) => run({ verb: 'changeOrder', args }),
    setOrderStatus: (...args) => run({ verb: 'setOrderStatus', args }),
    async close() {
      await database.close()
      await store.close()
    }
  }
}

const rule: Rule = (title, check) => {
  t.test(title, async (t) => {
    const store = await open()
    t.teardown(() => store.close())
    await check(t, store)
  })
}
placingContract(rule)
orderContract(rule)
largeContract(rule)
