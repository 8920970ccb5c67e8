import { Worker } from 'node:worker_threads'

/** The entry of a thread that lies beside the module of a URL, compiled or not as that is. */
export function entryBeside(url: string, name: string): URL {
  return new URL(`./${name}.${url.endsWith('.ts') ? 'ts' : 'js'}`, url)
}

/** Threads whose database is closed, by their entries; they keep no process alive. */
const idle = new Map<string, Worker[]>()

/** A thread without a database: one that has done its work, or else a new one, which takes far longer to start. */
export function takeThread(entry: URL): Worker {
  const thread = idle.get(entry.href)?.pop()
  if (!thread) return new Worker(entry)
  quieten(thread)
  thread.ref()
  return thread
}

/** Keeps a thread that has closed its database. */
export function returnThread(entry: URL, thread: Worker): void {
  const others = idle.get(entry.href) ?? []
  const forget = () => {
    const at = others.indexOf(thread)
    if (at >= 0) others.splice(at, 1)
  }
  quieten(thread)
  thread.on('error', forget).on('exit', forget).unref()
  others.push(thread)
  idle.set(entry.href, others)
}

/** Not all listeners: a Worker has some of its own. */
function quieten(thread: Worker): void {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
}
