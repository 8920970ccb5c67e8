import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'

/** Holds the answers of the document process back, so that the room that they take stays reserved. @param write what is answered then */
export function holdWrites(t: Test, { documents }: FastifyInstance, write: () => Promise<Buffer>) {
  // All shops of this process have the same documents.
  t.teardown(() => Reflect.deleteProperty(documents, 'write'))
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let waiting = 0
  documents.write = async () => {
    waiting += 1
    await held
    return write()
  }
  return { letGo, waiting: () => waiting }
}
