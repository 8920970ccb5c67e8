import { parentPort } from 'node:worker_threads'
import { garbageCollector } from '../garbage.ts'
import { lowerThreadPriority, niceness } from '../priority.ts'

/** A message to a thread. Messages open and close what it answers with, one at a time. */
export type ToThread<Data, Input> = { readonly open: Data } | { readonly id: number; readonly ask: Input } | 'close'
export type FromThread<Answer> = 'opened' | { readonly id: number; readonly answer: Answer } | 'closed'

export interface Answered<Answer> {
  readonly answer: Answer
  /** Buffers of the answer that are moved to the other thread instead of being copied. */
  readonly moved?: readonly ArrayBufferLike[]
}

interface Opened<Input, Answer> {
  answer(input: Input): Answered<Answer> | Promise<Answered<Answer>>
  close(): unknown
}

/** MiB by which the heap of a thread may grow before its garbage is collected. */
const growth = 24

/** Answers the messages to this thread. An error ends the thread, and HelperThread starts another. */
export function serve<Data, Input, Answer>(open: (data: Data) => Opened<Input, Answer>): void {
  let current: Opened<Input, Answer> | undefined
  const tidy = garbageCollector(growth)
  lowerThreadPriority(niceness.helper)

  function send(message: FromThread<Answer>, moved: readonly ArrayBufferLike[] = []): void {
    parentPort?.postMessage(message, moved as readonly ArrayBuffer[])
  }

  parentPort?.on('message', async (message: ToThread<Data, Input>) => {
    if (message === 'close') {
      await current?.close()
      current = undefined
      send('closed')
    } else if ('open' in message) {
      current = open(message.open)
      send('opened')
    } else {
      if (!current) throw new Error('a request came before the thread was opened')
      const { answer, moved } = await current.answer(message.ask)
      send({ id: message.id, answer }, moved)
      // Only large values leave so much garbage. When `tidy` runs, nothing refers to the message any more.
      if (moved && moved.length > 0) setImmediate(tidy)
    }
  })
}
