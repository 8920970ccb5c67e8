import type { Idempotency } from '../../domain/store.ts'
import type { Command } from '../crossing.ts'

export type ChangeCommand = Command<'changeOrder'> | Command<'setOrderStatus'> | Command<'shipOrder'>

export type OrderCommand = Command<'placeOrder'> | ChangeCommand

export function isChange(command: OrderCommand): command is ChangeCommand {
  return command.verb !== 'placeOrder'
}

export function idempotencyOf(command: OrderCommand): Idempotency | undefined {
  if (command.verb === 'placeOrder') return command.args[0].idempotency
  return command.verb === 'shipOrder' ? command.args[3]?.idempotency : undefined
}
