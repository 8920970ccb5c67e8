import type { Command } from '../commands.ts'

export type ChangeCommand = Command<'changeOrder'> | Command<'setOrderStatus'> | Command<'shipOrder'>

export type OrderCommand = Command<'placeOrder'> | ChangeCommand

export function isChange(command: OrderCommand): command is ChangeCommand {
  return command.verb !== 'placeOrder'
}
