import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import type { Versions } from '../domain/store.ts'
import { newLru } from '../fairness/lru.ts'
import { cacheShare, maxStringBody } from '../http/body-cache.ts'
import { type CacheableRequest, makeRequestReader } from '../http/cacheable-request.ts'
import { type Client, KnownHeads } from '../http/known-heads.ts'
import { readInTurn } from '../http/read-in-turn.ts'
import { ResponseHead } from '../http/response-head.ts'
import { requestId } from '../logging/request-ids.ts'
import { requestCompleted } from '../logging/requests.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The version that determines the response to a GET without a key. While it stays the same, an equal request gets the same
     * response. Undefined: there is no such version now.
     */
    version?: VersionOf
  }
}

type VersionOf = (versions: Versions, params: unknown) => number | undefined

/** A separate function, because a closure made in a hook would keep the request, its headers and its socket in memory. */
function versionReader(version: VersionOf, versions: Versions, params: unknown): () => number | undefined {
  return () => version(versions, params)
}

/** A response of the application, to send again while its version is the current one. */
interface StoredResponse {
  readonly status: number
  readonly head: ResponseHead
  /** A small body is a string, with a character for each byte. */
  readonly body: Buffer | string | undefined
  readonly version: number
  readonly currentVersion: () => number | undefined
  /** The requests that it is charged as. */
  readonly cost: number
  readonly logged: { readonly method: string; readonly url: string; readonly host: string }
  /** The logger of the last sender: most requests for a response come from the same one as before. */
  log?: { readonly client: string; readonly userAgent: string | undefined; readonly logger: FastifyBaseLogger }
  readonly measured: { readonly method: string; readonly route: string; readonly status: string }
  /** The latest version of the database for which the response was found to be current. */
  currentIn?: number
}

/** A response that the application is about to make. */
interface Recording {
  readonly key: string
  readonly client: string
  version: number | undefined
  body: Buffer | undefined
}

/** Larger bodies are not stored. Bytes. */
const maxBody = 512 * 1024
/** The approximate size of an entry without its body and key, in bytes. */
const overhead = 2_048
const maxClients = 10_000
/** Up to this many connections share a look at the database. With everything else that the process has open, that is below the 1,024 of `readInTurn`. */
const maxSharing = 512
/** A response is stored when its key is seen for the second time, so that a walk through the catalogue stores nothing. */
const maxSeen = 5_000

/**
 * The outermost layer of the service: it sends a response of the application again, without entering the application, when an
 * equal request comes and the version of the resource is still the same. It looks at the database for each request, so it never
 * sends an outdated response. Whatever it does not wholly understand goes on to the application. Like the application, it
 * counts each request against the rate limit, measures and logs, and lets addresses take turns. A request that comes again on a
 * connection is not even parsed.
 *
 * It does nothing if versions cannot be read at once (PostgreSQL), or without a body cache. It stores at most its `cacheShare`.
 */
export default fp(
  async function responseCache(app: FastifyInstance, { config }: { readonly config: Config }) {
    const { versions } = app.store
    if (!versions || config.BODY_CACHE === 0) return

    const readRequest = makeRequestReader(config)
    const responses = new LRUCache<string, StoredResponse>({
      maxSize: cacheShare(config),
      sizeCalculation: ({ body, head }, key) => (body?.length ?? 0) + head.length + key.length + overhead
    })
    const seen = newLru<true>(maxSeen)
    const clients = newLru<Pick<Client, 'ip' | 'network'>>(maxClients)
    const knownHeads = new KnownHeads()
    const recordings = new WeakMap<IncomingMessage, Recording>()

    app.addHook('onRoute', (route) => {
      const version = route.config?.version
      if (!version) return
      const before = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
        const recording = recordings.get(request.raw)
        if (recording) recording.version = version(versions, request.params)
        done()
      }
      const onSend = (request: FastifyRequest, _reply: FastifyReply, payload: unknown, done: () => void) => {
        const recording = recordings.get(request.raw)
        if (!recording) return done()
        if (Buffer.isBuffer(payload)) recording.body = payload
        else if (typeof payload === 'string') recording.body = Buffer.from(payload)
        done()
      }
      const after = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
        const recording = recordings.get(request.raw)
        if (recording) store(recording, request, reply, versionReader(version, versions, { ...Object(request.params) }))
        done()
      }
      route.preHandler = [before, ...[route.preHandler ?? []].flat()]
      route.onSend = [...[route.onSend ?? []].flat(), onSend]
      route.onResponse = [...[route.onResponse ?? []].flat(), after]
    })

    function store(
      { key, client, version, body }: Recording,
      request: FastifyRequest,
      reply: FastifyReply,
      currentVersion: () => number | undefined
    ): void {
      clients.set(client, { ip: request.ip, network: request.network })
      // The version is read before and after the response is made: if it is the same, the response is of this version.
      if (version === undefined || version !== currentVersion()) return
      const { statusCode } = reply
      if (statusCode === 200 ? (body?.length ?? maxBody + 1) > maxBody : statusCode !== 304) return
      const head = ResponseHead.of(reply.raw)
      if (!head) return
      const { method, url, host } = request
      responses.set(key, {
        status: statusCode,
        head,
        body: method === 'HEAD' ? undefined : body && body.length <= maxStringBody ? body.toString('latin1') : body,
        version,
        currentVersion,
        cost: request.charged?.cost ?? 1,
        logged: { method, url, host },
        measured: { method, route: request.routeOptions.url ?? 'unknown', status: String(statusCode) }
      })
    }

    /** A logger that has the fields of the request, so that they are serialized once. */
    function logger(stored: StoredResponse, { client, userAgent, ip }: Client): FastifyBaseLogger {
      const { log, logged, status } = stored
      if (log && log.client === client && log.userAgent === userAgent) return log.logger
      const made = app.log.child({ req: { ...logged, ip, headers: { 'user-agent': userAgent } }, res: { statusCode: status } })
      stored.log = { client, userAgent, logger: made }
      return made
    }

    const isCurrent = ({ version, currentVersion }: StoredResponse) => version === currentVersion()
    const sharedVersion = readInTurn(versions.database)
    const databaseVersion = (hasWaited: boolean) =>
      hasWaited || app.connections.open.size > maxSharing ? versions.database() : sharedVersion()

    /**
     * Whether the response is still current. Its own version is read only if anything in the database has changed since it was last
     * current.
     */
    function isUnchanged(stored: StoredResponse, hasWaited: boolean): boolean {
      const now = databaseVersion(hasWaited)
      if (now === undefined) return false
      if (stored.currentIn === now) return true
      if (!isCurrent(stored)) return false
      stored.currentIn = now
      return true
    }

    /** Counts a request for a stored response. @returns the RateLimit field; undefined if the application must answer */
    function count({ body, cost }: StoredResponse, { network }: Client, socket: Socket): string | undefined {
      if (app.isOverloaded() || app.connections.isClosing) return undefined
      return app.makeRoomToSend(body?.length ?? 0, socket, network) ? app.countOutside(network, cost) : undefined
    }

    function note(stored: StoredResponse, sender: Client, id: string, receivedAt: number): void {
      const responseTime = performance.now() - receivedAt
      app.metrics.observe(stored.measured, responseTime)
      logger(stored, sender).info({ reqId: id, responseTime }, requestCompleted)
    }

    /** Sends a stored response. @returns false if the application must answer */
    function send(stored: StoredResponse, sender: Client, request: CacheableRequest, response: ServerResponse): boolean {
      if (response.hasHeader('connection') || !isCurrent(stored)) return false
      const rateLimit = count(stored, sender, response.req.socket)
      if (rateLimit === undefined) return false
      const id = requestId(request.requestId)
      response.writeHead(stored.status, stored.head.fields({ 'x-request-id': id, ratelimit: rateLimit }))
      response.end(stored.body, 'latin1')
      knownHeads.remember(response.req, request, sender)
      note(stored, sender, id, request.receivedAt)
      return true
    }

    /** Sends a stored response for a request that is not parsed. @returns false if the parser must read the request */
    function sendUnparsed(stored: StoredResponse, sender: Client, socket: Socket, receivedAt: number, hasWaited: boolean): boolean {
      if (!isUnchanged(stored, hasWaited)) return false
      const rateLimit = count(stored, sender, socket)
      if (rateLimit === undefined) return false
      const id = requestId(undefined)
      const head = stored.head.write({ 'x-request-id': id, ratelimit: rateLimit })
      if (Buffer.isBuffer(stored.body)) {
        socket.cork()
        socket.write(head, 'latin1')
        socket.write(stored.body)
        socket.uncork()
      } else socket.write(stored.body === undefined ? head : head + stored.body, 'latin1')
      note(stored, sender, id, receivedAt)
      return true
    }

    app.connections.beforeParsing((socket, bytes, done) => {
      const receivedAt = performance.now()
      const known = knownHeads.read(socket.remoteAddress, bytes)
      const stored = known && responses.get(known.key)
      if (!stored) return false
      const { sender } = known
      let hasWaited = false
      app.schedule(sender.network, () => done(socket.writable && sendUnparsed(stored, sender, socket, receivedAt, hasWaited)))
      hasWaited = true
      return true
    })
    app.connections.wrap((next) => (raw, response) => {
      const request = readRequest(raw)
      if (!request) return next(raw, response)
      const key = request.target + request.variant
      const { client, userAgent } = request
      const record = () => {
        recordings.set(raw, { key, client, version: undefined, body: undefined })
        next(raw, response)
      }
      const stored = responses.get(key)
      const known = clients.get(client)
      if (stored && known) {
        app.schedule(known.network, () => {
          // The client may have gone while the request waited. The application would never see this response close.
          if (!response.destroyed && !send(stored, { client, userAgent, ...known }, request, response)) record()
        })
      } else if (seen.has(key)) record()
      else {
        seen.set(key, true)
        next(raw, response)
      }
    })
  },
  {
    name: 'response-cache',
    fastify: '5.x',
    dependencies: ['draining', 'limits', 'observability', 'rate-limit', 'scheduling', 'sending', 'store']
  }
)
