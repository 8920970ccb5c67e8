import type { BuyerSubmission } from '../dialects/submission.ts'
import { Problem } from '../http/problem.ts'

/** A refusal of a document in a buyer's vocabulary, which is answered in that vocabulary. */
export class BuyerProblem extends Problem {
  readonly buyer: BuyerSubmission

  constructor({ code, message, faults }: Pick<Problem, 'code' | 'message' | 'faults'>, buyer: BuyerSubmission) {
    super(code, message, { faults })
    this.buyer = buyer
  }
}
