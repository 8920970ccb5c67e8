import type { Store } from '../domain/store.ts'
import { instant } from '../representations/representation.ts'
import { type Command, Failure, readArguments, withExistingStore } from './command.ts'

export const keysRevoke: Command = {
  name: 'keys revoke',
  synopsis: 'ID',
  about: 'revoke an API key',
  help: 'The key with this id (see `keys list`) stops working at once, also in running services. It stays in the list.',

  async run(args) {
    const [id = ''] = readArguments(args, {}, ['ID']).operands
    await withExistingStore((store) => revoke(store, id))
    return 0
  }
}

async function revoke(store: Store, id: string): Promise<void> {
  if (await store.revokeKey(id)) return
  const key = (await store.keys()).find((one) => one.id === id)
  throw new Failure(
    key?.revokedAt === undefined
      ? `there is no key ${JSON.stringify(id)}: see \`tradepost keys list\` for the ids`
      : `the key ${id} was already revoked at ${instant(key.revokedAt)}`
  )
}
