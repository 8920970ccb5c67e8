import { DomainError } from './errors.ts'

/**
 * A document that names a resource must name the one that it is sent to.
 * @param named undefined if the document leaves the id out
 * @throws DomainError `identity-mismatch`
 */
export function requireSameId(id: string, named: string | undefined): void {
  if (named === undefined || named === id) return
  throw new DomainError('identity-mismatch', `The URI says ${id}, the document ${named}.`, {
    faults: [{ detail: `This must be ${id}, or be left out.`, at: [] }]
  })
}
