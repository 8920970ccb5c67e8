/**
 * Runs work with a signal that aborts when one of the given signals does.
 *
 * `AbortSignal.any` is not used: on Node.js 20 each call leaves an entry in every signal that it was given, for as long as that
 * signal lives. A signal that lives as long as the service then grows with every delivery.
 */
export async function withSignal<T>(sources: readonly AbortSignal[], work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort(sources.find(({ aborted }) => aborted)?.reason)
  for (const source of sources) source.addEventListener('abort', abort)
  if (sources.some(({ aborted }) => aborted)) abort()
  try {
    return await work(controller.signal)
  } finally {
    for (const source of sources) source.removeEventListener('abort', abort)
  }
}
