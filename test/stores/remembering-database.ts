import { Database, type Statement } from '../../stores/postgres/database.ts'
import { type Explained, planSteps } from './plan-steps.ts'

/** Remembers the statements that are run outside of transactions. */
export class RememberingDatabase extends Database {
  readonly statements: Statement[] = []

  override query<Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.statements.push({ text, values })
    return super.query<Row>(text, values)
  }

  override write<Row extends Record<string, unknown>>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.statements.push({ text, values })
    return super.write<Row>(text, values)
  }

  override prepared<Row extends Record<string, unknown>>(text: string, values: readonly unknown[]): Promise<Row[]> {
    this.statements.push({ text, values })
    return super.prepared<Row>(text, values)
  }

  /** Runs the last statement again, and returns the steps of its plan. */
  async explainLast() {
    const { text, values } = this.statements.at(-1) ?? { text: '', values: [] }
    const [row] = await super.query<Explained & Record<string, unknown>>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
    return planSteps(row)
  }
}
