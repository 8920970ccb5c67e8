import { defined } from '../domain/defined.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { shorten } from '../schemas/shorten.ts'
import { maxPath } from '../schemas/tree.ts'

/** The maximum bytes of a problem document, so that errors do not multiply the client's input. */
export const mostBytes = 64 * 1024

/** In characters. Only names and values from the client can make a text longer. */
const maxLength = { detail: 2_000, fault: 1_000, path: maxPath, instance: 2_000 } as const

/** Shortens the client's input in a fault. */
export function shortFault<F extends LocatedFault>(fault: F): F {
  const { path, item } = fault
  return {
    ...fault,
    detail: shorten(fault.detail, maxLength.fault),
    ...defined({ path: path && shorten(path, maxLength.path), item: item && shorten(item) })
  }
}

export function shortDetail(detail: string): string {
  return shorten(detail, maxLength.detail)
}

/** The request's URI. A long one is reduced to its path, and that is cut if it is still too long. */
export function shortInstance(uri: string): string {
  return uri.length <= maxLength.instance ? uri : (uri.split('?', 1)[0] ?? '').slice(0, maxLength.instance)
}

/** Writes a problem with as many errors as fit into `mostBytes`. The detail says how many are left out. */
export function writeWithin(problem: ProblemDocument, write: (problem: ProblemDocument) => string): Buffer {
  const { detail, errors = [] } = problem
  let written = Buffer.from(write(problem))
  for (let kept = errors.length; written.length > mostBytes && kept > 0; ) {
    const fitting = Math.floor((kept * 0.9 * mostBytes) / written.length)
    // If the first errors are longer than the others, fewer fit. To halve them then takes few attempts, of a few milliseconds each.
    kept = Math.min(fitting, kept === errors.length ? kept - 1 : kept >> 1)
    const left = errors.length - kept
    const shortened = `${detail} ${left === 1 ? 'The last error is' : `The last ${left} errors are`} left out, to keep this response short.`
    written = Buffer.from(write({ ...problem, detail: shortened, errors: errors.slice(0, kept) }))
  }
  return written
}
