import type { Store } from '../domain/store.ts'
import { hashKey } from '../http/credentials.ts'
import { keyPrefix } from '../http/masked-names.ts'
import { instant } from '../representations/representation.ts'
import { type Command, Failure, readArguments, withExistingStore } from './command.ts'

export const keysRevoke: Command = {
  name: 'keys revoke',
  synopsis: 'ID|KEY',
  about: 'revoke an API key',
  help: `The key stops working at once, also in running services. It stays in the list.

The webhooks that the key made or changed last are disabled with their next event. To keep them, change each with another key
of the same name first: its owner sends it again (PUT /webhook/{webhook_id}). Standard error says how many there are.

  ID    the id of the key, as \`keys list\` shows it
  KEY   the key itself, such as a key that has leaked; it is never printed`,

  async run(args) {
    const [named = ''] = readArguments(args, {}, ['ID|KEY']).operands
    await withExistingStore((store) => revoke(store, named.trim()))
    return 0
  }
}

/** @param named the id of a key, or the key itself, which no message repeats */
async function revoke(store: Store, named: string): Promise<void> {
  const isSecret = named.startsWith(keyPrefix)
  const key = isSecret ? await store.findKey(hashKey(named)) : (await store.keys()).find(({ id }) => id === named)
  if (!key) {
    const what = isSecret ? 'the shop does not have this key' : `there is no key ${JSON.stringify(named)}`
    throw new Failure(`${what}: see \`tradepost keys list\` for the ids`)
  }
  if (!(await store.revokeKey(key.id)))
    throw new Failure(`the key ${key.id} was already revoked${key.revokedAt === undefined ? '' : ` at ${instant(key.revokedAt)}`}`)
  const active = await store.activeWebhooksOf({ customer: key.customer, keyId: key.id })
  if (active > 0) process.stderr.write(`${webhooksEnd(active)} ${howToKeep}\n`)
}

const howToKeep = 'To keep one, its owner sends it again with another key of the same name: PUT /webhook/{webhook_id}.'

function webhooksEnd(active: number): string {
  return active === 1
    ? 'The key has 1 active webhook, which is disabled with its next event.'
    : `The key has ${active} active webhooks, each of which is disabled with its next event.`
}
