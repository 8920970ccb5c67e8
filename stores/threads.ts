import { Worker } from 'node:worker_threads'

/** Threads without an open database, by entry. They do not keep the process alive. */
const idle = new Map<string, Worker[]>()

/** Returns an idle thread, or a new one, which takes far longer. */
export function takeThread(entry: URL): Worker {
  const thread = idle.get(entry.href)?.pop()
  if (!thread) return new Worker(entry)
  removeListeners(thread)
  thread.ref()
  return thread
}

/** Keeps a thread for reuse after it has closed its database. */
export function returnThread(entry: URL, thread: Worker): void {
  const others = idle.get(entry.href) ?? []
  const remove = () => {
    const at = others.indexOf(thread)
    if (at >= 0) others.splice(at, 1)
  }
  removeListeners(thread)
  thread.on('error', remove).on('exit', remove).unref()
  others.push(thread)
  idle.set(entry.href, others)
}

/** Removes the listeners of these events only, because a Worker has internal listeners of other events. */
function removeListeners(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
}
