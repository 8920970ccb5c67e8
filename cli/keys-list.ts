import type { ApiKey } from '../domain/caller.ts'
import { instant } from '../representations/representation.ts'
import { type Command, readArguments, withStore } from './command.ts'
import { formatTable } from './table.ts'

const headings = ['ID', 'NAME', 'SCOPES', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED']

export const keysList: Command = {
  name: 'keys list',
  synopsis: '',
  about: 'list the API keys',
  help: `Id, name, scopes, and when each was made, last used, will expire, was revoked; never the keys themselves.
A table on a terminal; otherwise lines with tabs between the cells. The first line is a heading in both. The last use
is up to five seconds late.`,

  async run(args) {
    readArguments(args, {}, [0, 0])
    const keys = await withStore((store) => store.keys())
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
