import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { refuseUnfinished } from '../http/client-errors.ts'
import { Connections } from '../http/connections.ts'
import { addWait } from '../http/hooks.ts'
import { nothingStored } from '../http/methods.ts'
import { Problem } from '../http/problem.ts'
import { progressOf, type Unanswered, unreadStoredResponse } from '../http/unanswered.ts'

declare module 'fastify' {
  interface FastifyInstance {
    connections: Connections
    /** The pending requests, for the log: with ids and routes, because URLs may be secret. */
    unanswered(): Unanswered[]
    /** The id in the log line of the response's request. Undefined if the application has not seen the request. */
    requestIdOf(response: ServerResponse): string | undefined
  }
}

/** Tracks connections so that the service can stop without losing responses (RFC 9112 section 9.6). See `stopping.ts`. */
export default fp(
  async function draining(app: FastifyInstance, { config }: { readonly config: Config }) {
    const connections = new Connections(app.server, (socket) => refuseUnfinished(socket, config, app))
    const replies = new WeakMap<ServerResponse, FastifyReply>()

    app.decorate('connections', connections)
    app.decorate('unanswered', () => [
      ...connections.pendingResponses.map((response): Unanswered => {
        const reply = replies.get(response)
        return {
          reqId: reply?.request.id ?? '',
          method: response.req.method ?? '',
          route: reply?.request.routePattern,
          milliseconds: Math.round(reply?.elapsedTime ?? 0),
          state: progressOf(response)
        }
      }),
      ...[...connections.open].filter(({ sending }) => sending).map(() => unreadStoredResponse)
    ])

    app.decorate('requestIdOf', (response: ServerResponse) => replies.get(response)?.request.id)

    addWait(app, 'onRequest', (request, reply, done) => {
      replies.set(reply.raw, reply)
      const effect = nothingStored(request.method)
      const detail = `The service is stopping, and this connection is closing. ${effect}Send the request again over a new connection.`
      if (connections.isLate(request.raw)) done(new Problem('stopping', detail))
      else if (connections.listener.closing) connections.listener.closing.then(() => done(), done)
      else done()
    })
  },
  { name: 'draining', fastify: '5.x' }
)
