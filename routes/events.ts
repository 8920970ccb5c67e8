import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { day } from '../config.ts'
import { defer, joinTexts, listed, mostInline } from '../domain/deferred.ts'
import { PositionError } from '../domain/errors.ts'
import {
  type Audience,
  audienceOf,
  type EventHead,
  type EventType,
  eventTypes,
  narrow,
  partsOfEvent,
  type ShopEvent
} from '../domain/event.ts'
import { isStart, isStartKept, startCursor } from '../domain/event-start.ts'
import type { EventQuery, Store } from '../domain/store.ts'
import { pagedQuery, pageUri } from '../http/paging.ts'
import { parseWait } from '../http/preferences.ts'
import { Problem } from '../http/problem.ts'
import { type EventsPage, eventsRepresentations, eventsValidators } from '../representations/events.ts'
import { uris } from '../representations/links.ts'
import { anyKey } from './access.ts'
import type { RoutePlugin } from './route.ts'

const events: RoutePlugin = async (app, { config }) => {
  const uri = uris(config.BASE_URL.path)
  const keep = config.EVENTS_KEEP * day

  app.get(
    '/events',
    {
      schema: { querystring: eventQuery },
      config: { represents: eventsRepresentations, caching: 'private', access: anyKey, describes }
    },
    async (request, reply) => {
      const { limit, after, type: types = [] } = request.query
      const all = audienceOf(request.caller)
      const audience = types.length === 0 ? all : narrow(all, types)
      // Vary keeps caches from sending one key's events to another.
      reply.header('vary', 'Accept, Authorization, Cookie')
      if (await isUnchanged(request, reply, audience, request.query)) return reply
      const found = await unlessExpired(request, audience, request.query, () => headsInTime(request, reply, after, { audience, limit }))
      const heads = withinWeight(found)
      const isFull = heads.length === limit || heads.length < found.length
      const isFinal = isFull && eventOf(after) !== undefined && !request.isPage
      const last = heads.at(-1)?.id ?? cursorOfEmptyPage(after)
      // The last event of a page that is not full is the last that the caller hears.
      const newest = isFull && !isFinal ? ((await request.read((store) => store.lastEvent(audience)))?.id ?? last) : last
      const validators = validatorsOf(request, audience, { first: heads[0]?.id, last: newest, isFinal })
      if (reply.revalidate(validators, false)) return reply
      const weight = heads.reduce((sum, head) => sum + head.weight, 0)
      // A page with large orders waits for the document process, which has limits of its own.
      if (weight <= mostInline) await request.listTurn(heads.length)
      const read = await unlessExpired(request, audience, request.query, () => wholeEvents(request, heads, weight))
      const links = [
        { rel: 'self', href: request.url },
        { rel: 'next', href: uriAfter(last, request.query) }
      ]
      // To read megabytes of orders and to join them each takes long.
      if (weight > mostInline) await request.nextTurn()
      const page = eventsPage(read, weight, { links, version: validators.version, isFinal, types })
      request.holdRead(page)
      return reply.represent(page)
    }
  )

  /** The cursor of an empty page. */
  function cursorOfEmptyPage(after: string | undefined): string {
    return eventOf(after) ?? startCursor(Date.now(), keep)
  }

  /**
   * Answers 304 if the client has the page. Two look-ups are enough to know that, because nothing ever changes between the first event
   * and the last that the caller hears. It does not answer for a final page, which has another tag, nor for an empty page if the client
   * prefers to wait.
   */
  async function isUnchanged(request: FastifyRequest, reply: FastifyReply, audience: Audience, filters: Filters): Promise<boolean> {
    const { headers, operation } = request
    const { after } = filters
    const tags = headers['if-none-match']
    // Other conditions need to know the tag of the page, also of a final one.
    if (tags === undefined || tags.trim() === '*' || operation.ifMatch !== undefined) return false
    const [first] = await unlessExpired(request, audience, filters, () => headsAfter(request, after, { audience, limit: 1 }))
    if (!first && parseWait(operation.prefer) !== undefined) return false
    const newest = first && ((await request.read((store) => store.lastEvent(audience))) ?? first)
    return reply.revalidate(
      validatorsOf(request, audience, { first: first?.id, last: newest?.id ?? cursorOfEmptyPage(after), isFinal: false })
    )
  }

  function uriAfter(id: string | undefined, { type, limit }: Filters): string {
    return pageUri(uri.events, { type, limit, after: id })
  }

  async function headsAfter(request: FastifyRequest, after: string | undefined, query: EventQuery): Promise<readonly EventHead[]> {
    const event = eventOf(after)
    const found = await request.read((store) => store.eventHeads(event === undefined ? query : { ...query, after: event }))
    if (after !== undefined && event === undefined && !isStartKept(after, Date.now(), keep)) {
      throw new PositionError('a start that is not kept any more')
    }
    return found
  }

  /** The events of a page. If there are none, the request waits for the first, as long as the client prefers. */
  async function headsInTime(
    request: FastifyRequest,
    reply: FastifyReply,
    after: string | undefined,
    query: EventQuery
  ): Promise<readonly EventHead[]> {
    const wait = parseWait(request.operation.prefer)
    const watch = wait === undefined ? undefined : await reply.watchEvents(query.audience)
    const found = await headsAfter(request, after, query)
    if (!watch || wait === undefined) return found
    reply.applyPreference(`wait=${wait}`)
    if (found.length > 0) return found
    await watch.event(wait)
    await request.requireKeyStill()
    return headsAfter(request, after, query)
  }

  async function wholeEvents(request: FastifyRequest, heads: readonly EventHead[], weight: number): Promise<readonly ShopEvent[]> {
    const readEvents = (store: Store) => {
      // Large orders are not even read while too many are being written.
      request.holdUnreadOrder(weight)
      // A read keeps its room even when its client has gone.
      return weight > mostInline ? request.withRoomFor(weight, () => store.events(heads)) : store.events(heads)
    }
    const found = await request.read(readEvents, weight)
    if (found.length < heads.length) throw new PositionError('an event of the page was deleted meanwhile')
    return found
  }

  /** @throws Problem `cursor-expired`, also when an event of the page is deleted meanwhile */
  async function unlessExpired<T>(request: FastifyRequest, audience: Audience, filters: Filters, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof PositionError)) throw error
    }
    const last = await request.read((store) => store.lastEvent(audience))
    const next = uriAfter(last?.id ?? startCursor(Date.now(), keep), filters)
    const detail = `The event in "after" is no longer kept, or never existed. Store this link: ${next}. Read all orders and products again, and then go on from that link.`
    throw new Problem('cursor-expired', detail, { headers: { link: `<${next}>; rel="next"` } })
  }
}

interface Filters {
  readonly type?: readonly EventType[]
  readonly limit: number
  readonly after?: string
}

const eventQuery = pagedQuery<Filters>({
  after: {
    type: 'string',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    description: 'Only events after this cursor, as the `next` link has it.'
  },
  type: {
    type: 'array',
    items: { type: 'string', enum: [...eventTypes] },
    maxItems: eventTypes.length,
    description: 'Only events of this type. The parameter may be repeated.'
  }
})

/** The event after which a page begins. Undefined if the page begins with the oldest event, so that it changes when that event is deleted. */
function eventOf(after: string | undefined): string | undefined {
  return after === undefined || isStart(after) ? undefined : after
}

/** The bounds of a page. With its URI and its audience, they decide its content. */
interface Extent {
  readonly first: string | undefined
  /** For a final page, its last event. For any other, the last event that the audience hears, which ends a page that is not full. */
  readonly last: string
  readonly isFinal: boolean
}

function validatorsOf({ url, caller }: FastifyRequest, audience: Audience, { first, last, isFinal }: Extent) {
  const version = hash('sha256', JSON.stringify([url, audience, first, last, isFinal])).slice(0, 16)
  return eventsValidators({ version, isFinal }, caller)
}

/** The most characters of JSON that the orders of one page have together. An order that is larger has a page of its own. */
const mostWeight = 256 * 1024

const describes = {
  id: 'listEvents',
  summary: 'What happened in the shop, the oldest first',
  notes:
    "A key with `fulfilment` gets the events of all orders, products and webhooks. One with `catalogue` gets those of products and stock. One with `order` gets those of its customer's orders and of products. Each key gets those of its customer's webhooks. Keep the `next` link, and go on from there. `Prefer: wait=30` holds a request for an empty page until something happens. Also as NDJSON.",
  answers: { 200: 'A page of events. A full page never changes.' },
  problems: ['cursor-expired'],
  waits: true
} as const

/** The events of the page: as many as the weight of their orders allows, but at least one. */
function withinWeight(heads: readonly EventHead[]): readonly EventHead[] {
  let weight = 0
  const end = heads.findIndex((head, i) => {
    weight += head.weight
    return i > 0 && weight > mostWeight
  })
  return end === -1 ? heads : heads.slice(0, end)
}

/** The page as a value that is written here, or in the document process if its orders are large together. */
function eventsPage(events: readonly ShopEvent[], weight: number, page: Omit<EventsPage, 'events'>): EventsPage {
  if (weight <= mostInline) return { ...page, events }
  const text = joinTexts([`${JSON.stringify(page).slice(0, -1)},"events":[`, ...listed(events.map(partsOfEvent)), ']}'])
  return defer<EventsPage>(text, page)
}

export default fp(events, {
  name: 'events',
  encapsulate: true,
  dependencies: ['representation', 'authorization', 'event-watch', 'prefer', 'sharing']
})
