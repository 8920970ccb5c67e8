import { Worker } from 'node:worker_threads'

type Entry = 'writer' | 'reader'

const suffix = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** Threads whose database is closed; they keep no process alive. */
const idle: Readonly<Record<Entry, Worker[]>> = { writer: [], reader: [] }

/** A thread without a database: one that has done its work, or else a new one, which takes far longer to start. */
export function takeThread(entry: Entry): Worker {
  const thread = idle[entry].pop()
  if (!thread) return new Worker(new URL(`./${entry}-thread.${suffix}`, import.meta.url))
  quieten(thread)
  thread.ref()
  return thread
}

/** Keeps a thread that has closed its database. */
export function returnThread(entry: Entry, thread: Worker): void {
  const forget = () => {
    const at = idle[entry].indexOf(thread)
    if (at >= 0) idle[entry].splice(at, 1)
  }
  quieten(thread)
  thread.on('error', forget).on('exit', forget).unref()
  idle[entry].push(thread)
}

/** Not all listeners: a Worker has some of its own. */
function quieten(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
}
