import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { newLru } from '../fairness/lru.ts'
import { PacedQueue } from '../fairness/paced-queue.ts'
import { RateTally } from '../fairness/rate-tally.ts'
import { TokenBuckets } from '../fairness/token-buckets.ts'
import { bodyLength, hasBody } from '../http/body.ts'
import { connectionOf } from '../http/connection.ts'
import { shownKeyHash } from '../http/credentials.ts'
import { addCheck, addWait } from '../http/hooks.ts'
import { Problem } from '../http/problem.ts'
import { makeProxyCheck } from '../http/proxies.ts'
import { costOfBody, costOfEvents, costOfWork, costParameters } from '../http/request-cost.ts'
import { addressName } from '../http/sender-name.ts'
import { bytesOfBody } from './documents.ts'

/** Milliseconds. */
const minute = 60_000

/** The maximum number of counted callers, and of known keys. It limits the memory, however many addresses call. */
const maxCallers = 20_000

/**
 * The connections that an address or network can make at once, and in each second from then on. More of them are reset unread.
 * Accepting costs the service more than connecting costs a client, and others wait in the same queue of new connections.
 */
const newConnections = { burst: 2_000, perSecond: 500, maxCallers } as const

/**
 * Milliseconds before each refusal of a caller that has sent twice the allowed requests, and between two of them. A connection
 * waits for its response, so a flood is slowed to 200 requests per second, however many connections it has.
 */
const refusalPause = { before: 250, between: 5 } as const

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts a request without a key that the application does not see.
     * @param cost 0 if the request is free
     * @returns the RateLimit field, empty without a limit; undefined if the caller is over the limit, and then nothing is counted
     */
    countOutside(network: string, cost: number): string | undefined
    /** Whether a request with a body was over the limit when it was counted. Undefined if it has not been counted yet. */
    wasOverRate(request: IncomingMessage): boolean | undefined
  }
  interface FastifyRequest {
    /** Undefined if the request is not counted. */
    charged: Charge | undefined
    /**
     * Adds requests to the caller's count; a negative number subtracts. This never refuses the current request: only the next
     * one is refused if the count is over the limit, so a request may cost more than what is left of the minute.
     */
    charge(requests: number): void
    /**
     * Charges a request for a stored order that it reads, as for a body of that size. It pays once: for the largest order that it reads.
     * @param bytes of the order as JSON
     */
    chargeForOrder(bytes: number): void
    /**
     * The refusal of a request that was accepted, and is about to read or write a large order. Undefined until the caller's other requests have used
     * up its rate. Otherwise many requests that were accepted together would each do so.
     */
    rateRefusal(): Problem | undefined
    /** Charges the events that a write of the request has made. Every one is kept, and delivered to each webhook that hears it. */
    chargeForEvents(events: number): void
    /**
     * Raises the cost of a request to that of a body as large as what it stores. Call it with the expected size before the write, and with
     * the real size after it. The last call counts.
     */
    chargeForStored(bytes: number): void
    /** Charges the time that the document process spent on the request, in milliseconds. */
    chargeWork(milliseconds: number): void
    /**
     * The refusal of a document that was accepted and still waits. Undefined until the caller's documents have used up the
     * processor time that its rate allows in a minute.
     */
    workRefusal(): Problem | undefined
  }
}

interface Charge {
  readonly caller: string
  /** The digest of the key that the request shows, valid or not. */
  readonly keyHash: string | undefined
  /** The caller's count. */
  current: number
  /** The amount that this request has added to the count. */
  cost: number
  /** The part of it that is for a stored order. */
  orderCost: number
  /** The part of it that is for what the request stores. */
  storedCost: number
  /** Seconds. */
  readonly resetsIn: number
}

/** The caller for all keys of an address that were not valid before. */
function newKeysOf(address: string): string {
  return `new keys of ${address}`
}

function tooMany(detail: string, milliseconds: number): Problem {
  const seconds = Math.ceil(milliseconds / 1000)
  return new Problem('too-many-requests', `${detail} Try again in ${seconds} seconds.`, { headers: { 'retry-after': String(seconds) } })
}

/** Limits how fast each network makes connections. A proxy may make them as fast as its clients come. */
function limitNewConnections(app: FastifyInstance, { TRUST_PROXY }: Config): void {
  const buckets = new TokenBuckets(newConnections)
  const isProxy = makeProxyCheck(TRUST_PROXY)
  app.connections.listener.rules.isFlooding = (address, network) => !buckets.take(network) && !isProxy(address)
}

/** @returns a function that waits until a refusal of this caller may be sent */
function makeRefusalPause(app: FastifyInstance): (caller: string, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  // A service that stops does not wait for refusals.
  const refusals = new PacedQueue(refusalPause, () => app.connections.isClosing)
  return async (caller, { socket, network }, reply) => {
    const connection = connectionOf(socket)
    if (connection) connection.isRefusalDelayed = true
    // Never resolves when the client goes away meanwhile: then there is nobody to refuse.
    await new Promise<void>((resolve) => {
      reply.raw.once('close', refusals.add(caller, resolve))
    })
    if (connection) connection.isRefusalDelayed = false
    // Many delays end in the same turn of the event loop, and others must not wait for all of these refusals.
    await new Promise<void>((resolve) => app.schedule(network, resolve))
  }
}

/**
 * Limits the requests per minute of each API key, or of each address (a /64 of IPv6) without a key.
 *
 * It counts before authentication. A key that was valid before has its own count. All other keys of an address share one, so that its
 * guests cannot keep out a customer whose key comes for the first time. Above the limit no such key is looked up in the store. They
 * count for the address, too, so that guessing keys uses up its requests.
 * Register this before all plugins that refuse requests, so that refused requests count too.
 * The headers are those of draft-ietf-httpapi-ratelimit-headers in its structured form; @fastify/rate-limit has the older ones. It
 * also counts with promises, which take an eighth of the processor time of a request for a product that is not cached.
 */
export default fp(
  async function rateLimit(app: FastifyInstance, { config }: { config: Config }) {
    const { RATE_LIMIT: limit } = config
    const max = limit ?? Number.POSITIVE_INFINITY
    const tally = new RateTally({ window: minute, maxCallers })
    /** The part of each count that is for the time of documents. */
    const work = new RateTally({ window: minute, maxCallers })
    const validKeys = newLru<true>(maxCallers)

    /** Whether a caller has sent so many requests that its refusals are delayed. */
    const isDelayed = (caller: string) => tally.look(caller).current > 2 * max
    const policy = `"default";q=${max};w=${minute / 1000};${costParameters}`
    const field = (current: number, resetsIn: number) => `"default";r=${Math.max(0, max - current)};t=${resetsIn}`
    const overRate = (milliseconds: number) => tooMany(`You have sent more than ${max} requests in a minute.`, milliseconds)

    app.decorate('countOutside', (network: string, cost: number) => {
      if (limit === undefined) return ''
      const caller = addressName(network)
      if (tally.look(caller).current >= max) return undefined
      const { current, ttl } = tally.count(caller)
      return field(cost === 1 ? current : tally.charge(caller, cost - 1), Math.ceil(ttl / 1000))
    })

    // Only a request with a body can turn out to be malformed after it is counted. Most have none, and an entry takes time.
    const counted = new WeakMap<IncomingMessage, boolean>()
    app.decorate('wasOverRate', (request: IncomingMessage) => counted.get(request))

    app.decorateRequest('charged', undefined)
    app.decorateRequest('charge', function (this: FastifyRequest, requests: number) {
      const { charged } = this
      if (!charged || requests === 0) return
      charged.current = tally.charge(charged.caller, requests)
      charged.cost += requests
    })
    app.decorateRequest('chargeForOrder', function (this: FastifyRequest, bytes: number) {
      const { charged } = this
      if (!charged) return
      const more = Math.max(0, costOfBody(bytes) - charged.orderCost)
      charged.orderCost += more
      this.charge(more)
    })
    app.decorateRequest('chargeForEvents', function (this: FastifyRequest, events: number) {
      this.charge(costOfEvents(events))
    })
    app.decorateRequest('chargeForStored', function (this: FastifyRequest, bytes: number) {
      const { charged } = this
      if (!charged) return
      const others = charged.cost - charged.storedCost
      const stored = Math.max(0, 1 + costOfBody(bytes) - others)
      const more = stored - charged.storedCost
      charged.storedCost = stored
      this.charge(more)
    })
    app.decorateRequest('rateRefusal', function (this: FastifyRequest) {
      if (!this.charged) return undefined
      const { caller, cost } = this.charged
      const { current, ttl } = tally.look(caller)
      return current - cost < max ? undefined : overRate(ttl)
    })
    app.decorateRequest('chargeWork', function (this: FastifyRequest, milliseconds: number) {
      const cost = costOfWork(milliseconds)
      this.charge(cost)
      if (this.charged && cost > 0) work.charge(this.charged.caller, cost)
    })
    app.decorateRequest('workRefusal', function (this: FastifyRequest) {
      if (!this.charged) return undefined
      const { current, ttl } = work.look(this.charged.caller)
      if (current < max) return undefined
      return tooMany('Your other documents took too long in this minute, so this one was not read. Nothing was stored.', ttl)
    })

    // Without a limit no request is counted, so none of them is charged or refused.
    if (limit === undefined) return

    limitNewConnections(app, config)
    app.connections.listener.rules.isUnanswered = (network) => isDelayed(addressName(network))
    const pauseRefusal = makeRefusalPause(app)

    /** The name under which a request is counted. */
    const callerOf = (keyHash: string | undefined, address: string): string => {
      if (keyHash === undefined) return address
      return validKeys.has(keyHash) ? `key ${keyHash}` : newKeysOf(address)
    }

    const refuse = async (caller: string, ttl: number, request: FastifyRequest, reply: FastifyReply): Promise<never> => {
      if (isDelayed(caller)) await pauseRefusal(caller, request, reply)
      throw overRate(ttl)
    }

    addWait(app, 'onRequest', (request, reply, done) => {
      if (request.routeOptions.config.unlimited) return done()
      const keyHash = shownKeyHash(request.headers.authorization)
      const address = addressName(request.network)
      const caller = callerOf(keyHash, address)
      if (caller === newKeysOf(address)) tally.count(address)
      const { current, ttl } = tally.count(caller)
      request.charged = { caller, keyHash, current, cost: 1, orderCost: 0, storedCost: 0, resetsIn: Math.ceil(ttl / 1000) }
      if (hasBody(request)) counted.set(request.raw, current > max)
      if (current > max) return void refuse(caller, ttl, request, reply).catch(done)
      // A body above the limit is never read.
      request.charge(costOfBody(Math.min(bodyLength(request) ?? 0, config.BODY_LIMIT)))
      done()
    })

    // The length of a chunked body is known only now.
    addCheck(app, 'preValidation', (request) => {
      if (bodyLength(request) === undefined) request.charge(costOfBody(bytesOfBody(request.body)))
    })

    addCheck(app, 'onSend', (request, reply) => {
      const { charged } = request
      if (!charged) return
      if (reply.statusCode === 413 && bodyLength(request) === undefined) request.charge(costOfBody(config.BODY_LIMIT))
      const { keyHash, current, resetsIn } = charged
      reply.headers({ 'ratelimit-policy': policy, ratelimit: field(current, resetsIn) })
      if (keyHash === undefined) return
      if (reply.statusCode === 401) validKeys.delete(keyHash)
      else if (request.caller.kind === 'key') validKeys.set(keyHash, true)
    })
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['draining', 'problems', 'scheduling'] }
)
