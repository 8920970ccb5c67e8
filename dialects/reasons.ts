/** The texts of answers to buyers, within the limits of XML and of their receivers. */

import { shorten } from '../schemas/shorten.ts'
import { toXmlText } from '../schemas/xml-characters.ts'

/** The most characters of all reasons together. Receivers keep them in their logs, and gateways limit texts. */
const maxLength = 60_000

/** Room for the sentence that says how many reasons are left out. */
const remarkLength = 100

/** Joins reasons, a line each. When there is no room for all, the last line says how many are left out. */
export function joinReasons(lines: readonly string[]): string {
  const reasons = lines.map((line) => toXmlText(line).trim()).filter(Boolean)
  const all = reasons.join('\n')
  if (all.length <= maxLength) return all
  const kept: string[] = []
  let room = maxLength - remarkLength
  for (const reason of reasons) {
    if (reason.length + 1 > room) break
    kept.push(reason)
    room -= reason.length + 1
  }
  const [first] = reasons
  if (kept.length === 0 && first !== undefined) kept.push(shorten(first, room))
  const left = reasons.length - kept.length
  if (left === 0) return kept.join('\n')
  return [...kept, left === 1 ? '1 more reason is left out.' : `${left} more reasons are left out.`].join('\n')
}
