import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority, niceness } from '../priority.ts'

/** A message to a thread. The thread has one database at a time, which messages open and close. */
export type ToThread<Data, Input> = { readonly open: Data } | { readonly id: number; readonly ask: Input } | 'close'
export type FromThread<Answer> = 'opened' | { readonly id: number; readonly answer: Answer } | 'closed'

interface OpenDatabase<Input, Answer> {
  answer(input: Input): Answer | Promise<Answer>
  close(): unknown
}

/** Answers the messages to this thread. An error ends the thread, and DatabaseThread starts another. */
export function serve<Data, Input, Answer>(open: (data: Data) => OpenDatabase<Input, Answer>): void {
  let current: OpenDatabase<Input, Answer> | undefined
  lowerThreadPriority(niceness.helper)

  async function handle(message: ToThread<Data, Input>): Promise<FromThread<Answer>> {
    if (message === 'close') {
      await current?.close()
      current = undefined
      return 'closed'
    }
    if ('open' in message) {
      current = open(message.open)
      return 'opened'
    }
    if (!current) throw new Error('a request came before the database was opened')
    return { id: message.id, answer: await current.answer(message.ask) }
  }

  parentPort?.on('message', async (message: ToThread<Data, Input>) => parentPort?.postMessage(await handle(message)))
}
