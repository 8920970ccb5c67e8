/**
 * Milliseconds of processor time of a function: the least of three runs. Compare two of them as a ratio with much room: a
 * machine that is busy slows both.
 */
export function processorTime(work: () => void): number {
  const runs = [1, 2, 3].map(() => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.max(Math.min(...runs), 0.1)
}
