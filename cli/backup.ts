import { readConfig } from '../config.ts'
import { type Command, Failure, readArguments, requireDatabase } from './command.ts'

export const backup: Command = {
  name: 'backup',
  synopsis: 'FILE',
  about: 'copy the SQLite database while the service runs',
  help: `Copies the whole SQLite database, as it is at one moment, to FILE: catalogue, stock, orders and keys. FILE must not exist
yet; it appears when the copy is complete. Only the user who runs the command may read it. If the command is killed, it
leaves a file with the name of FILE and .partial at the end, which you can remove.

To restore the copy: stop the service, replace the database by a copy of FILE, remove the files with the name of the
database and -wal or -shm at the end, and start the service.

For PostgreSQL use its own tools, pg_dump and pg_restore.`,

  async run(args) {
    const [target = ''] = readArguments(args, {}, ['FILE']).operands
    const url = readConfig().DATABASE_URL
    if (!url.startsWith('sqlite:')) throw new Failure(pgDump(target))
    requireDatabase(url)
    const { backupSqlite } = await import('../stores/sqlite/backup.ts')
    await backupSqlite(url.slice('sqlite:'.length), target)
    return 0
  }
}

function pgDump(target: string): string {
  const file = `'${target.replaceAll("'", "'\\''")}'`
  return `the database is PostgreSQL, which has its own tools for this. To make a backup:
  pg_dump --format=custom --file=${file} --dbname="$DATABASE_URL"
To restore it, stop the service and run:
  pg_restore --clean --if-exists --no-owner --single-transaction --dbname="$DATABASE_URL" ${file}`
}
