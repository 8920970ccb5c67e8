import type { ProblemDocument } from '../representations/problem.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { shorten } from '../schemas/shorten.ts'
import { maxPath } from '../schemas/tree.ts'

/** Bytes of an answer that refuses a document: what was sent never comes back many times over. */
export const mostBytes = 64 * 1024

/** Faults that are told; a document that has more of them is told so. */
export const mostFaults = 100

/** In characters. Our own sentences are shorter; only names and values that were sent can make one longer. */
const most = { detail: 2_000, fault: 1_000, path: maxPath, instance: 2_000 } as const

/** A fault without more of what was sent than helps to find it. */
export function shortFault<F extends LocatedFault>(fault: F): F {
  const { path } = fault
  return { ...fault, detail: shorten(fault.detail, most.fault), ...(path === undefined ? {} : { path: shorten(path, most.path) }) }
}

export function shortDetail(detail: string): string {
  return shorten(detail, most.detail)
}

/** The request's URI; of one that is too long, its path, and of that as much as is short. */
export function shortInstance(uri: string): string {
  return uri.length <= most.instance ? uri : (uri.split('?', 1)[0] ?? '').slice(0, most.instance)
}

/** Writes a problem with as many of its faults as an answer has room for, and says how many are left out. */
export function writeWithin(problem: ProblemDocument, write: (problem: ProblemDocument) => string): Buffer {
  const { detail, errors = [] } = problem
  let written = Buffer.from(write(problem))
  for (let kept = errors.length; written.length > mostBytes && kept > 0; ) {
    kept = Math.min(kept - 1, Math.floor((kept * 0.9 * mostBytes) / written.length))
    const left = errors.length - kept
    const told = `${detail} ${left === 1 ? 'The last error is' : `The last ${left} errors are`} left out here, to keep this answer short.`
    written = Buffer.from(write({ ...problem, detail: told, errors: errors.slice(0, kept) }))
  }
  return written
}
