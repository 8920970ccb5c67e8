import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { FewPerTurn } from '../fairness/few-per-turn.ts'

/** Bodies of up to this many bytes are sent at once. */
export const maxWholeBody = 512 * 1024

/** Bytes of a part. To hand 5 MB to the system at once takes the serving thread 10 to 20 ms. */
const partSize = 64 * 1024

/** Parts that are sent in one turn of the event loop, of all bodies together. */
const partsPerTurn = 2

/** The most bytes of bodies that may wait for their turns. If there are more, a body is sent at once. */
const maxWaiting = 16 * 1024 * 1024

/** A response that sends what it is given at once. */
interface Sending {
  readonly response: ServerResponse
  readonly socket: Socket
  write(part: Buffer): void
  end(part: Buffer): void
}

/**
 * Sends large bodies in parts, and others have their turns between them. A body waits here only as long as its client takes every part at
 * once. Then the rest waits in its socket, as any other response does, where `SlowReaders` finds it.
 */
export class PacedBodies {
  readonly #turns = new FewPerTurn(partsPerTurn)
  #waiting = 0

  /** @returns false if the body must be sent at once */
  takes(body: unknown): body is Buffer {
    return Buffer.isBuffer(body) && body.length > maxWholeBody && this.#waiting + body.length <= maxWaiting
  }

  send(caller: string, body: Buffer, { response, socket, ...sending }: Sending): void {
    let rest = body
    let isOver = false
    this.#waiting += body.length
    const leave = () => {
      if (!isOver) this.#waiting -= body.length
      isOver = true
      response.off('close', leave)
      socket.off('end', sendRest)
    }
    const send = (size: number) => {
      if (isOver) return
      const part = rest.subarray(0, size)
      rest = rest.subarray(part.length)
      if (rest.length > 0) {
        sending.write(part)
        this.#turns.add(caller, sendNext)
      } else {
        leave()
        sending.end(part)
      }
    }
    const sendNext = () => send(socket.writableLength === 0 ? partSize : rest.length)
    const sendRest = () => send(rest.length)
    response.on('close', leave)
    // When a client closes its sending side, Node ends the connection after what is written by then.
    socket.prependListener('end', sendRest)
    this.#turns.add(caller, sendNext)
  }
}
