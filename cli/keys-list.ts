import type { ApiKey } from '../domain/caller.ts'
import { instant } from '../representations/representation.ts'
import { type Command, readArguments, withExistingStore } from './command.ts'
import { formatTable } from './table.ts'

const headings = ['ID', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED']

export const keysList: Command = {
  name: 'keys list',
  synopsis: '',
  about: 'list the API keys',
  help: `Lists the id, name and scopes of each key, and when it was made, was last used, expires and was revoked. The keys
themselves are not stored. Prints a table on a terminal, and tab-separated lines otherwise, both with a heading. The time
of the last use may be up to five seconds late.`,

  async run(args) {
    readArguments(args, {}, [])
    const keys = await withExistingStore((store) => store.keys())
    process.stdout.write(formatTable(headings, keys.map(toRow), process.stdout.isTTY))
    return 0
  }
}

function toRow({ id, customer, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }: ApiKey): string[] {
  return [
    id,
    customer,
    scopes.join(','),
    ...[createdAt, lastUsedAt, expiresAt, revokedAt].map((at) => (at === undefined ? '-' : instant(at)))
  ]
}
