/**
 * The pool of connections. The driver is pg: it gives up a query that is never answered (`query_timeout`), for which
 * postgres.js 3.4 has no option, and it sends the statements of a transaction without waiting for each.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { failure, overloaded } from './failures.ts'

/** Milliseconds. The client waits a little longer than the server, which then says why. */
const timeouts = { connect: 5_000, statement: 10_000, query: 15_000, idleInTransaction: 10_000, close: 5_000 } as const

/** Statements and transactions that may wait for a connection. */
const mostWaiting = 2_000

/**
 * Every statement has its index, so no plan has to read a whole table, as one would that was made while the table was
 * empty and is kept for a prepared statement. Compiling a statement takes longer than running any of them.
 */
const plans = 'SET jit = off; SET enable_seqscan = off'

/** What is acknowledged is on disk, also where the database's default is not to wait for that; `remote_apply` and the like stay. */
const durable = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"

const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)
// The content of a large order is only parsed by who looks into it.
types.setTypeParser(pg.types.builtins.JSON, String)

export interface Queries {
  /** Sends a statement behind those that are on their way. @throws DomainError `store-unavailable`, DatabaseError */
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

export class Database implements Queries {
  readonly #pool: pg.Pool
  /** Of prepared statements, by their texts. */
  readonly #names = new Map<string, string>()
  #closing: Promise<void> | undefined

  constructor(url: string, poolSize: number) {
    this.#pool = new pg.Pool({
      connectionString: url,
      max: poolSize,
      pipeline: true,
      keepAlive: true,
      fallback_application_name: 'tradepost',
      connectionTimeoutMillis: timeouts.connect,
      statement_timeout: timeouts.statement,
      query_timeout: timeouts.query,
      idle_in_transaction_session_timeout: timeouts.idleInTransaction,
      types,
      onConnect: (client) => client.query(`${plans}; ${durable}`)
    })
    // A connection that is lost ends what it was doing, by itself. Without a listener the event would end the process.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /** A statement that is planned for the values that it has. */
  query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#run({ text, values: [...values] })
  }

  /**
   * A statement that every connection plans once: only for what looks up one row of one table, whose plan is right at any
   * size of it. A join that was planned while a table was small would go on reading all of it.
   */
  prepared<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#run({ name: this.#name(text), text, values: [...values] })
  }

  async #run<Row extends pg.QueryResultRow>(statement: pg.QueryConfig): Promise<Row[]> {
    this.#admit()
    try {
      return (await this.#pool.query<Row>(statement)).rows
    } catch (error) {
      throw failure(error)
    }
  }

  #admit(): void {
    if (this.#pool.waitingCount >= mostWaiting) throw overloaded()
  }

  #name(text: string): string {
    const name = this.#names.get(text) ?? `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  /**
   * Runs statements as one transaction, which is on disk when the promise resolves. Statements that `work` does not wait
   * for go out together with the COMMIT; any that fails undoes all. Where nothing but locks is to be undone it is rolled
   * back, which waits for no disk. When the connection is lost during the COMMIT nobody knows its outcome, so nothing here
   * is ever tried again by itself.
   */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    this.#admit()
    const client = await this.#pool.connect().catch((error) => {
      throw failure(error)
    })
    const sent: Promise<pg.QueryResult>[] = []
    let end = 'ROLLBACK'
    const send = <Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) => {
      const result = client.query<Row>(text, values && [...values])
      result.catch(() => {})
      sent.push(result)
      return result
    }
    const query = <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) => {
      if (!text.startsWith('SELECT')) end = 'COMMIT'
      const rows = send<Row>(text, values).then((result) => result.rows)
      rows.catch(() => {})
      return rows
    }
    try {
      // Said in full, because the locking relies on it whatever the database's defaults are.
      send('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE')
      const value = await work({ query })
      const { command } = await send(end)
      await Promise.all(sent)
      // The COMMIT of a transaction in which a statement failed is answered with ROLLBACK, not with an error.
      if (command !== end) throw new Error(`${end} was answered with ${command}`)
      return value
    } catch (error) {
      await send('ROLLBACK').catch(() => {})
      // The first that failed says why; those behind it only that the transaction was over.
      const failed = (await Promise.allSettled(sent)).find((result) => result.status === 'rejected')
      throw failed ? failure(failed.reason) : error
    } finally {
      client.release(client.getTransactionStatus() !== 'I')
    }
  }

  /** Lets what is under way end, and says goodbye; to a server that does not answer, only for a while. */
  close(): Promise<void> {
    this.#closing ??= Promise.race([this.#pool.end(), sleep(timeouts.close, undefined, { ref: false })])
    return this.#closing
  }
}
