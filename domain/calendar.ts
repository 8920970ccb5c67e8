/** The first moment whose year has more than four digits, which the schemas of the shop's documents do not take. Milliseconds since the epoch. */
export const endOfTime = Date.UTC(10_000, 0)

/** Whether a day such as 2026-11-20 exists. Date turns 30 February into a day of March. */
export function existsInCalendar(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}
