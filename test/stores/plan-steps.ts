/** A step of a plan of PostgreSQL. */
interface PlanStep {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Relation Name'?: string
  readonly Alias?: string
  readonly 'Index Cond'?: string
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanStep[]
}

/** A row that `EXPLAIN (FORMAT JSON)` answers. */
export interface Explained {
  readonly 'QUERY PLAN': string
}

const stepsFrom = (step: PlanStep): readonly PlanStep[] => [step, ...(step.Plans ?? []).flatMap(stepsFrom)]

/** All steps of a plan, the outermost first. */
export function planSteps(row: Explained | undefined): readonly PlanStep[] {
  return stepsFrom(JSON.parse(row?.['QUERY PLAN'] ?? '')[0].Plan)
}

/** The pages of 8 KiB that a plan has read, from memory or from the disk. A page that is read twice counts twice. */
export function blocksRead([outermost]: readonly PlanStep[]): number {
  return (outermost?.['Shared Hit Blocks'] ?? 0) + (outermost?.['Shared Read Blocks'] ?? 0)
}
