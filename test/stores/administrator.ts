import pg from 'pg'

/** The connections that make and drop the databases of the tests, by the URL of the server. */
const administrators = new Map<string, pg.Pool>()

/**
 * Runs a statement on a connection that this process keeps, because to connect takes as much processor time as to drop a database.
 * The connection does not keep the process from ending.
 */
export async function administer(server: string, statement: string): Promise<void> {
  const administrator = administrators.get(server) ?? connect(server)
  await administrator.query(statement)
}

function connect(server: string): pg.Pool {
  const administrator = new pg.Pool({ connectionString: server, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  // A lost connection is replaced at the next statement.
  administrator.on('error', () => {})
  administrators.set(server, administrator)
  return administrator
}
