import { parentPort } from 'node:worker_threads'

/** To a thread that has one database at a time, opened and closed by message. */
export type ToThread<Data, Asked> = { readonly open: Data } | { readonly id: number; readonly ask: Asked } | 'close'
export type FromThread<Answer> = 'opened' | { readonly id: number; readonly answer: Answer } | 'closed'

interface Opened<Asked, Answer> {
  answer(asked: Asked): Answer | Promise<Answer>
  close(): unknown
}

/** Answers what is asked of this thread. What is thrown ends it, and the other side starts another. */
export function serve<Data, Asked, Answer>(open: (data: Data) => Opened<Asked, Answer>): void {
  let current: Opened<Asked, Answer> | undefined

  async function act(message: ToThread<Data, Asked>): Promise<FromThread<Answer>> {
    if (message === 'close') {
      await current?.close()
      current = undefined
      return 'closed'
    }
    if ('open' in message) {
      current = open(message.open)
      return 'opened'
    }
    if (!current) throw new Error('something was asked before there was a database')
    return { id: message.id, answer: await current.answer(message.ask) }
  }

  parentPort?.on('message', async (message: ToThread<Data, Asked>) => parentPort?.postMessage(await act(message)))
}
