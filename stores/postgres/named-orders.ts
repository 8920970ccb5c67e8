import { idempotencyOf } from '../commands.ts'
import { ActiveOrderNumbers, type Numbered } from './active-order-numbers.ts'
import type { Queries } from './database.ts'
import { IdempotencyKeys } from './idempotency.ts'
import type { LockedOrders } from './order-changes.ts'
import { isChange, type OrderCommand } from './order-commands.ts'

/**
 * The rows that the commands of a batch name, besides the orders that they change: answers by Idempotency-Key, and active orders by number.
 * A command can be small and name a large order, so the sizes are known before anything else is read.
 */
export class NamedOrders {
  readonly keys: IdempotencyKeys
  readonly numbers: ActiveOrderNumbers
  readonly #locked: LockedOrders

  private constructor(keys: IdempotencyKeys, numbers: ActiveOrderNumbers, locked: LockedOrders) {
    this.keys = keys
    this.numbers = numbers
    this.#locked = locked
  }

  /** Reads which keys and numbers are there, and the sizes. Both statements are sent at once. */
  static async read(queries: Queries, commands: readonly OrderCommand[], locked: LockedOrders): Promise<NamedOrders> {
    const used = commands.flatMap((command) => idempotencyOf(command) ?? [])
    const wanted = commands.flatMap((command) => numberOf(command, locked) ?? [])
    const known = (id: string) => locked.find(id)
    const [keys, numbers] = await Promise.all([IdempotencyKeys.read(queries, used), ActiveOrderNumbers.read(queries, wanted, known)])
    return new NamedOrders(keys, numbers, locked)
  }

  /** Bytes that `readContents` reads for a command. */
  sizeOf(command: OrderCommand): number {
    const [key, number] = [idempotencyOf(command), this.#neededNumber(command)]
    return (key ? this.keys.sizeOf(key) : 0) + (number ? this.numbers.sizeOf(number) : 0)
  }

  /** Reads the answers and orders that commands need. @throws ConcurrentChange if one has changed since its size was read */
  async readContents(queries: Queries, commands: readonly OrderCommand[]): Promise<void> {
    const used = commands.flatMap((command) => idempotencyOf(command) ?? [])
    const wanted = commands.flatMap((command) => this.#neededNumber(command) ?? [])
    await Promise.all([this.keys.readAnswers(queries, used), this.numbers.readContents(queries, wanted)])
  }

  /**
   * The number by which a command names an order that it needs whole. A command whose key was used before needs none: it gets the first
   * answer, or is refused. A change needs only the id of the order.
   */
  #neededNumber(command: OrderCommand): Numbered | undefined {
    const key = idempotencyOf(command)
    return isChange(command) || (key && this.keys.isUsed(key)) ? undefined : numberOf(command, this.#locked)
  }
}

function numberOf(command: OrderCommand, locked: LockedOrders): Numbered | undefined {
  if (command.verb === 'placeOrder') {
    const [{ customer, order }] = command.args
    return numbered(customer, order.orderNumber)
  }
  return command.verb === 'changeOrder' ? numbered(locked.customerOf(command.args[0]), command.args[1].orderNumber) : undefined
}

function numbered(customer: string | undefined, orderNumber: string | undefined): Numbered | undefined {
  return customer === undefined || orderNumber === undefined ? undefined : { customer, orderNumber }
}
