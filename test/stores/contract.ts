import type { Test } from 'tap'
import type { Store } from '../../domain/store.ts'
import { catalogueContract } from './contract-catalogue.ts'
import { concurrencyContract } from './contract-concurrency.ts'
import { documentContract } from './contract-documents.ts'
import { eventContract } from './contract-events.ts'
import { gtinContract } from './contract-gtin.ts'
import { importContract } from './contract-import.ts'
import { keyContract } from './contract-keys.ts'
import { largeContract, queueContract } from './contract-large.ts'
import { lenientContract } from './contract-lenient.ts'
import { orderListContract } from './contract-order-lists.ts'
import { orderNumberContract } from './contract-order-numbers.ts'
import { orderContract } from './contract-orders.ts'
import { pagingContract } from './contract-paging.ts'
import { placingContract } from './contract-placing.ts'
import { searchContract } from './contract-search.ts'
import { shipmentContract } from './contract-shipments.ts'
import { stockContract } from './contract-stock.ts'
import { webhookClaimContract } from './contract-webhook-claims.ts'
import { webhookTurnsContract } from './contract-webhook-turns.ts'
import { webhookContract } from './contract-webhooks.ts'

/** Declares one rule of the contract, checked on a store of its own. */
export type Rule = (title: string, check: (t: Test, store: Store) => Promise<void>) => void

/** @param open gives a new, empty store of a shop that sells in EUR; each rule closes its own */
export function ruleOn(t: Test, open: () => Promise<Store>): Rule {
  return (title, check) => {
    t.test(title, async (t) => {
      const store = await open()
      t.teardown(() => store.close())
      await check(t, store)
    })
  }
}

/**
 * The rules that hold for every store.
 * @param open as `ruleOn` has it
 */
export function storeContract(t: Test, open: () => Promise<Store>): void {
  const rule = ruleOn(t, open)
  catalogueContract(rule)
  stockContract(rule)
  gtinContract(rule)
  pagingContract(rule)
  searchContract(rule)
  importContract(rule)
  placingContract(rule)
  lenientContract(rule)
  orderContract(rule)
  orderNumberContract(rule)
  shipmentContract(rule)
  orderListContract(rule)
  documentContract(rule)
  eventContract(rule)
  largeContract(rule)
  queueContract(rule)
  keyContract(rule)
  webhookContract(rule)
  webhookClaimContract(rule)
  webhookTurnsContract(rule)
  concurrencyContract(rule)
}
