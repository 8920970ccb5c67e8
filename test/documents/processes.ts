import { readdirSync, readFileSync } from 'node:fs'

/** Why a test of the document processes is skipped; false where it is not. */
export const skip = process.platform === 'linux' ? false : 'this system does not tell which processes another has started'

/** The document processes of this process, as proc(5) tells them. */
export function documentProcesses(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('/documents/process.')
      } catch {
        return false
      }
    })
}
