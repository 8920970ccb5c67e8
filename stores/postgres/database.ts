/**
 * The pool of connections. The driver is pg for two reasons: it has a timeout for a query without an answer (`query_timeout`),
 * which postgres.js 3.4 has not, and it sends the statements of a transaction without waiting for each answer.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { perhapsStored } from '../outcomes.ts'
import { connectTimeout } from './connect-timeout.ts'
import {
  connectFailure,
  type Failures,
  failure,
  failures,
  failuresOfWrite,
  isConnectionEnded,
  isConnectionLost,
  unavailable
} from './failures.ts'
import { withCheckedTls } from './tls-mode.ts'

/** Milliseconds. The client waits longer than the server, so that the server's error gives the reason. */
const timeouts = { connect: 5_000, statement: 10_000, query: 15_000, idleInTransaction: 10_000, close: 5_000 } as const

/** The most statements and transactions that may wait for a connection. */
const maxWaiting = 2_000

/**
 * Settings of the planner. Every statement has an index, so sequential scans are off: a prepared statement keeps its plan, and
 * a plan from when the table was empty would read the whole table. JIT is off, because it takes longer than any statement.
 */
const plans = 'SET jit = off; SET enable_seqscan = off'

/** Acknowledged writes must be on disk, even if the database's default is `off`. Other settings, such as `remote_apply`, stay. */
const durable = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"

const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)
// The content of a large order is parsed only when it is read.
types.setTypeParser(pg.types.builtins.JSON, String)

/** The SQL of a query, with the values of its parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Queries {
  /** Sends a statement without waiting for the answers to earlier ones. @throws DomainError `store-unavailable`, DatabaseError */
  query<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

export class Database implements Queries {
  readonly #pool: pg.Pool
  /** The names of prepared statements, by SQL text. */
  readonly #names = new Map<string, string>()
  /** When each connection was last known to work, in milliseconds of `performance.now()`. */
  readonly #workedAt = new WeakMap<pg.PoolClient, number>()
  #closing: Promise<void> | undefined

  constructor(url: string, poolSize: number) {
    this.#pool = new pg.Pool({
      connectionString: withCheckedTls(url),
      max: poolSize,
      pipeline: true,
      keepAlive: true,
      fallback_application_name: 'tradepost',
      connectionTimeoutMillis: connectTimeout(url, timeouts.connect),
      statement_timeout: timeouts.statement,
      query_timeout: timeouts.query,
      idle_in_transaction_session_timeout: timeouts.idleInTransaction,
      types,
      onConnect: (client) => client.query(`${plans}; ${durable}`)
    })
    // The queries of a lost connection fail by themselves. Without a listener, the event would end the process.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', (client) => {
      this.#workedAt.set(client, performance.now())
      client.on('error', () => {})
    })
    this.#pool.on('release', (failed, client) => {
      if (!failed) this.#workedAt.set(client, performance.now())
    })
  }

  /** Runs a statement that only reads. It is planned for its values. */
  query<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return reading((workedSince) => this.#run({ text, values: [...values] }, workedSince))
  }

  /** Runs a statement that writes. */
  write<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#run({ text, values: [...values] })
  }

  /** Runs a statement that only reads. @param settings a statement that sets the planner for it alone */
  async queryWith<Row extends pg.QueryResultRow>(settings: string, { text, values }: Statement): Promise<Row[]> {
    const { rows } = await this.snapshot(async ({ query }) => {
      void query(settings)
      return { rows: query<Row>(text, values) }
    })
    return rows
  }

  /** Runs statements that only read. All of them see the same state of the database. */
  snapshot<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return reading((workedSince) => this.#transaction('REPEATABLE READ READ ONLY', failures, work, workedSince))
  }

  /**
   * Runs a prepared statement that only reads, which each connection plans once. Use it only for look-ups of one row of one table, whose plan is
   * right at any size of the table. A join that was planned while a table was small would keep reading all of it.
   */
  prepared<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return reading((workedSince) => this.#run({ name: this.#name(text), text, values: [...values] }, workedSince))
  }

  async #run<Row extends pg.QueryResultRow>(statement: pg.QueryConfig, workedSince?: number): Promise<Row[]> {
    const client = await this.#connection(failures, workedSince)
    try {
      const { rows } = await client.query<Row>(statement)
      client.release()
      return rows
    } catch (error) {
      client.release(true)
      throw failure(error)
    }
  }

  /**
   * A connection that has worked since a moment of `performance.now()`. Idle ones that have not are closed, and the pool opens another.
   * @param when the errors while there is none
   */
  async #connection(when: Failures, workedSince = 0): Promise<pg.PoolClient> {
    if (this.#isFull) throw when.tooLong()
    for (;;) {
      const client = await this.#pool.connect().catch((error) => {
        throw connectFailure(error, when)
      })
      if ((this.#workedAt.get(client) ?? 0) >= workedSince) return client
      client.release(true)
    }
  }

  get #isFull(): boolean {
    return this.#pool.waitingCount >= maxWaiting
  }

  #name(text: string): string {
    const name = this.#names.get(text) ?? `s${this.#names.size}`
    this.#names.set(text, name)
    return name
  }

  /**
   * Runs statements as one transaction, which is on disk when the promise resolves. Statements that `work` does not await are
   * sent together with the COMMIT. If a statement fails, all are undone. A transaction that wrote nothing ends with ROLLBACK,
   * which does not wait for the disk. If the connection is lost during the COMMIT, the outcome is unknown: the error says so, and this
   * method never retries.
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#transaction('READ COMMITTED', failuresOfWrite, work)
  }

  /**
   * @param mode the locking relies on this isolation level, so it does not depend on the database's default. It never says READ WRITE: a
   * standby refuses the word itself, and a database that is read-only by its settings would be written by some verbs and not by others.
   * @param undone the errors while it is certain that nothing was stored
   */
  async #transaction<T>(
    mode: 'READ COMMITTED' | 'REPEATABLE READ READ ONLY',
    undone: Failures,
    work: (queries: Queries) => Promise<T>,
    workedSince?: number
  ): Promise<T> {
    const client = await this.#connection(undone, workedSince)
    const sent: Promise<pg.QueryResult>[] = []
    let end = 'ROLLBACK'
    let isCommitSent = false
    const send = <Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]) => {
      const result = client.query<Row>(text, values && [...values])
      result.catch(() => {})
      sent.push(result)
      return result
    }
    const query = <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) => {
      if (mode === 'READ COMMITTED' && !text.startsWith('SELECT')) end = 'COMMIT'
      const rows = send<Row>(text, values).then((result) => result.rows)
      rows.catch(() => {})
      return rows
    }
    try {
      send(`BEGIN ISOLATION LEVEL ${mode}`)
      const value = await work({ query })
      isCommitSent = end === 'COMMIT'
      const { command } = await send(end)
      await Promise.all(sent)
      // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, not with an error.
      if (command !== end) throw new Error(`${end} was answered with ${command}`)
      return value
    } catch (error) {
      await send('ROLLBACK').catch(() => {})
      // The first error has the reason. The errors after it only say that the transaction was aborted.
      const failed = (await Promise.allSettled(sent)).find((result) => result.status === 'rejected')
      if (!failed) throw error
      if (isCommitSent && isConnectionLost(failed.reason)) throw perhapsStored(failed.reason)
      throw failure(failed.reason, isCommitSent ? { ...undone, outOfReach: unavailable } : undone)
    } finally {
      client.release(client.getTransactionStatus() !== 'I')
    }
  }

  /** Waits for the queries in progress and closes the connections. Gives up on a server that does not answer. */
  close(): Promise<void> {
    this.#closing ??= Promise.race([this.#pool.end(), sleep(timeouts.close, undefined, { ref: false })])
    return this.#closing
  }
}

/**
 * Reads once more if the connection has ended, on one that has worked since then: when a failover, a restart or an operator ends connections,
 * each that is idle may have ended already, or is the next.
 */
async function reading<T>(read: (workedSince?: number) => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Error && isConnectionEnded(error.cause))) throw error
    return read(performance.now())
  }
}
