import { parentPort } from 'node:worker_threads'
import type { Connection } from './connection.ts'

/** To a thread that has one database at a time, opened and closed by message. */
export type ToThread<Data, Asked> = { readonly open: Data } | { readonly ask: Asked } | 'close'
export type FromThread<Answer> = 'opened' | { readonly answer: Answer } | 'closed'

interface Opened<Asked, Answer> {
  readonly db: Connection
  readonly answer: (asked: Asked) => Answer
}

/** Answers what is asked of this thread, one after the other. What is thrown ends it, and the other side starts another. */
export function serve<Data, Asked, Answer>(open: (data: Data) => Opened<Asked, Answer>): void {
  let current: Opened<Asked, Answer> | undefined

  function act(message: ToThread<Data, Asked>): FromThread<Answer> {
    if (message === 'close') {
      current?.db.close()
      current = undefined
      return 'closed'
    }
    if ('open' in message) {
      current = open(message.open)
      return 'opened'
    }
    if (!current) throw new Error('something was asked before there was a database')
    return { answer: current.answer(message.ask) }
  }

  parentPort?.on('message', (message: ToThread<Data, Asked>) => parentPort?.postMessage(act(message)))
}
