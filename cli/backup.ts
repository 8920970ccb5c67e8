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
    if (!url.startsWith('sqlite:')) throw new Failure(pgDump(target, url))
    requireDatabase(url)
    const { backupSqlite } = await import('../stores/sqlite/backup.ts')
    await backupSqlite(url.slice('sqlite:'.length), target)
    return 0
  }
}

/** How to back a PostgreSQL database up, for a shell with the settings of the service. The URL is not shown, because it has a password. */
function pgDump(target: string, url: string): string {
  const file = `'${target.replaceAll("'", "'\\''")}'`
  const given = `"\${DATABASE_URL:-$(cat "$DATABASE_URL_FILE")}"`
  // Only the driver knows this value. The one of PostgreSQL's tools encrypts and checks nothing, too.
  const isUnchecked = /[?&]sslmode=no-verify(&|$)/.test(url)
  const database = `--dbname=${isUnchecked ? `"$(printf %s ${given} | sed s/sslmode=no-verify/sslmode=require/)"` : given}`
  return `the database is PostgreSQL, which has its own tools for this. To make a backup:
  pg_dump --format=custom --file=${file} ${database}
To restore it, stop the service, empty the database and read the backup:
  psql ${database} --command='DROP SCHEMA public CASCADE; CREATE SCHEMA public'
  pg_restore --no-owner --single-transaction ${database} ${file}`
}
