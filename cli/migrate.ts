import { readConfig } from '../config.ts'
import { type Command, readArguments } from './command.ts'

export const migrate: Command = {
  name: 'migrate',
  synopsis: '',
  about: "update the database to this version's schema",
  help: `The service does this by itself when it starts. Use the command to do it earlier. If the schema is up to date, the
command changes nothing.`,

  async run(args) {
    readArguments(args, {}, [])
    const { applied, to } = await migrateDatabase(readConfig().DATABASE_URL)
    process.stdout.write(`${applied.map((name) => `applied ${name}\n`).join('')}the schema is ${to}\n`)
    return 0
  }
}

async function migrateDatabase(url: string): Promise<{ readonly to: number; readonly applied: readonly string[] }> {
  if (url.startsWith('sqlite:')) {
    const { migrateSqlite } = await import('../stores/sqlite/migrations.ts')
    return migrateSqlite(url.slice('sqlite:'.length))
  }
  const { migratePostgres } = await import('../stores/postgres/migrations.ts')
  return migratePostgres(url)
}
