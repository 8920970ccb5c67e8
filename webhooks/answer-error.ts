/** An answer that the shop does not take. The owner of the webhook reads the message. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
}
