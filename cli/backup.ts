import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readConfig } from '../config.ts'
import { type Command, Failure, readArguments } from './command.ts'

export const backup: Command = {
  name: 'backup',
  synopsis: 'FILE',
  about: 'copy the database, whole and of one moment, while the service runs',
  help: `For SQLite. FILE must not be there yet; it appears when it is complete. It is a database like the original, with
everything in it: catalogue, stock, orders, keys; only the user who makes it may read it. Killed meanwhile, it leaves a
file named like FILE with .partial at the end, which can be removed.

To restore it: stop the service, put a copy of FILE in the place of the database, remove the files that are named
like the database with -wal and -shm at the end, start the service.

For PostgreSQL use its own tools: pg_dump and pg_restore.`,

  async run(args) {
    const [target = ''] = readArguments(args, {}, [1, 1]).operands
    const url = readConfig().DATABASE_URL
    if (!url.startsWith('sqlite:')) throw new Failure(pgDump(target))
    const path = url.slice('sqlite:'.length)
    if (!existsSync(path)) throw new Failure(`there is no database at ${resolve(path)}`)
    const { backupSqlite } = await import('../stores/sqlite/backup.ts')
    backupSqlite(path, target)
    return 0
  }
}

function pgDump(target: string): string {
  const file = `'${target.replaceAll("'", "'\\''")}'`
  return `the database is PostgreSQL, which has its own tools for this:
  pg_dump --format=custom --file=${file} --dbname="$DATABASE_URL"
and to restore it, with the service stopped:
  pg_restore --clean --if-exists --no-owner --single-transaction --dbname="$DATABASE_URL" ${file}`
}
