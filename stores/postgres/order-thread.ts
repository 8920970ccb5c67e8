/** The entry of the order thread, which has its own connections. It answers a batch only after its commit. */

import { type Answered, serve } from '../../threads/serve.ts'
import { type CommandBatch, packOutcomes, unpackCommand } from '../crossing.ts'
import { type CommandOutcome, type Failure, toFailure } from '../outcomes.ts'
import { Database } from './database.ts'
import type { OrderCommand } from './order-commands.ts'
import { makeOrderWrites } from './order-writes.ts'

export interface OrderThreadData {
  readonly url: string
  readonly currency: string
  readonly connections: number
}

/** The outcome of each command, or the failure of the whole transaction. */
export type OrderAnswer = { readonly outcomes: readonly CommandOutcome[] } | { readonly failure: Failure }

serve(({ url, currency, connections }: OrderThreadData) => {
  const database = new Database(url, connections)
  const write = makeOrderWrites(database, currency, 'order')

  async function answer({ commands, lane }: CommandBatch<OrderCommand>): Promise<Answered<OrderAnswer>> {
    try {
      const written = (await write(commands.map(unpackCommand), lane)).map(
        (outcome): CommandOutcome => ('error' in outcome ? { failure: toFailure(outcome.error) } : outcome)
      )
      const { outcomes, moved } = packOutcomes(commands, written)
      return { answer: { outcomes }, moved }
    } catch (error) {
      return { answer: { failure: toFailure(error) } }
    }
  }

  return { answer, close: () => database.close() }
})
