import { Worker } from 'node:worker_threads'

/** Threads that are not open, by entry. They do not keep the process alive. */
const idle = new Map<string, Worker[]>()

/**
 * The default of 48 MiB for the young generation would take 20 MB more while large orders are written.
 * `bench/order-sizes.ts` shows no difference for small ones.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 } as const

/** The URL of a module, or the code of a script. */
export type ThreadEntry = URL | string

/** Returns an idle thread, or a new one, which takes far longer. */
export function takeThread(entry: ThreadEntry): Worker {
  const thread = idle.get(String(entry))?.pop()
  if (!thread) return new Worker(entry, { eval: typeof entry === 'string', resourceLimits })
  removeListeners(thread)
  thread.ref()
  return thread
}

/** Keeps a thread for reuse after it was closed. */
export function returnThread(entry: ThreadEntry, thread: Worker): void {
  const others = idle.get(String(entry)) ?? []
  const remove = () => {
    const at = others.indexOf(thread)
    if (at >= 0) others.splice(at, 1)
  }
  removeListeners(thread)
  thread.on('error', remove).on('exit', remove).unref()
  others.push(thread)
  idle.set(String(entry), others)
}

/** Removes the listeners of these events only, because a Worker has internal listeners of other events. */
function removeListeners(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
}
