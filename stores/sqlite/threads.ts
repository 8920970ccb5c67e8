import { Worker } from 'node:worker_threads'

const entry = new URL(import.meta.url.endsWith('.ts') ? './writer-thread.ts' : './writer-thread.js', import.meta.url)

/** Threads whose database is closed; they keep no process alive. */
const idle: Worker[] = []

/** A thread without a database: one that has done its work, or else a new one, which takes far longer to start. */
export function takeThread(): Worker {
  const thread = idle.pop()
  if (!thread) return new Worker(entry)
  quieten(thread)
  thread.ref()
  return thread
}

/** Keeps a thread that has closed its database. */
export function returnThread(thread: Worker): void {
  const forget = () => {
    const at = idle.indexOf(thread)
    if (at >= 0) idle.splice(at, 1)
  }
  quieten(thread)
  thread.on('error', forget).on('exit', forget).unref()
  idle.push(thread)
}

/** Not all listeners: a Worker has some of its own. */
function quieten(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
}
