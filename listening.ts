import { once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** A port cannot be opened. The message is one line for the operator: what is wrong and what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** The name of the port's setting. */
  readonly setting: 'PORT' | 'OPS_PORT'
}

/**
 * The most clients that may wait to be accepted. Others must try again, a second later or more. Node's default is 511, and Linux
 * lowers it to `net.core.somaxconn`.
 */
const backlog = 4096

/** Opens a port and closes it again, so that a start that could not listen ends before it changes anything. @throws ListenError */
export async function checkPort(place: ListenAddress): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  try {
    await once(server.listen({ host: place.host, port: place.port }), 'listening')
  } catch (error) {
    throw new ListenError(explain(error as NodeJS.ErrnoException, place), { cause: error })
  }
  await once(server.close(), 'close')
}

/**
 * Opens a port.
 * @param text of the log's line for each address, which is given as a URL
 * @returns the first address, as a URL
 * @throws ListenError
 */
export async function listen(app: FastifyInstance, place: ListenAddress, text: (address: string) => string): Promise<string> {
  try {
    return await app.listen({ host: place.host, port: place.port, backlog, listenTextResolver: text })
  } catch (error) {
    throw new ListenError(explain(error as NodeJS.ErrnoException, place), { cause: error })
  }
}

function explain({ code, message }: NodeJS.ErrnoException, { host, port, setting }: ListenAddress): string {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const another = `${setting}=${port < 1024 ? port + 8000 : port < 65535 ? port + 1 : port - 1}`
  switch (code) {
    case 'EADDRINUSE':
      return `${where} is in use: another process listens there. End that one, or choose another port, such as ${another}.`
    case 'EACCES':
      return `${where} may not be opened: this user has no right to use port ${port}. Choose another port, such as ${another}.`
    case 'EADDRNOTAVAIL':
      return `${where} cannot be opened: this machine does not have the address ${host}. Set HOST to one that it has, or to 0.0.0.0 for all of them.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${where} cannot be opened: the name ${host} has no address. Set HOST to an IP address, or to a name that this machine can look up.`
    default:
      return `${where} cannot be opened: ${message}. Check HOST and ${setting}.`
  }
}
