import { type Caller, guest, hasScope } from '../domain/caller.ts'
import { audienceOf, type EventType, type NewEvent, type ShopEvent, typesHeard } from '../domain/event.ts'
import { type Element, element } from '../schemas/element.ts'
import { toJson } from '../schemas/json.ts'
import { orderXsd } from '../schemas/purchase-order.ts'
import { childType, rootType } from '../schemas/vocabulary.ts'
import { type Link, linkedToItself, uris } from './links.ts'
import { isLaterPage, makeListRepresentations } from './list.ts'
import { orderElement } from './order.ts'
import { inPieces } from './pieces.ts'
import { type Context, pageOf, type Representation, type Validators, writerInPieces } from './representation.ts'
import { renderPage, renderPart } from './views.ts'

export interface EventsPage {
  readonly events: readonly ShopEvent[]
  readonly links: readonly Link[]
  /** Identifies the page's events and who may see them. */
  readonly version: string
  /** Whether the page is full, so that it never changes. */
  readonly isFinal: boolean
  /** The types that were asked for. */
  readonly types: readonly EventType[]
}

/** The URI of what an event is about. */
function eventResource({ type, subject }: Pick<NewEvent, 'type' | 'subject'>, base: string): string {
  const uri = uris(base)
  if (type === 'stock-set') return uri.stock(subject)
  if (type === 'webhook-disabled') return uri.webhook(subject)
  return type.startsWith('product-') ? uri.product(subject) : uri.order(subject)
}

/** The time of an event, in UTC to the millisecond (RFC 3339). */
export function eventTime({ at }: Pick<NewEvent, 'at'>): string {
  return new Date(at).toISOString()
}

/** The order of an event links only to itself, because the possible next steps depend on the order's present state. */
function pastOrder(order: NonNullable<ShopEvent['order']>, base: string): Element {
  return linkedToItself(orderElement(order, { base, caller: guest }))
}

export function eventElement(event: ShopEvent, { base }: Pick<Context, 'base'>): Element {
  const { id, type, version, order } = event
  const attributes = { id, type, at: eventTime(event), resource: eventResource(event, base), version: String(version) }
  return element('event', attributes, order ? [pastOrder(order, base)] : [])
}

const eventsType = rootType(orderXsd, 'events')
export const eventType = childType(eventsType, 'event')

/** The kinds of events that people choose from, each with the prefixes of its event types. */
const kinds = { All: [''], Orders: ['order-'], 'Products and stock': ['product-', 'stock-'], Webhooks: ['webhook-'] } as const

function eventsUri(types: readonly EventType[], { base }: Pick<Context, 'base'>): string {
  const query = new URLSearchParams(types.map((type): [string, string] => ['type', type])).toString()
  return query === '' ? uris(base).events : `${uris(base).events}?${query}`
}

/** The links to the events of each kind that the caller hears. */
function kindsOf({ types }: EventsPage, { base, caller }: { readonly base: string; readonly caller: Caller }) {
  const heard = typesHeard(audienceOf(caller))
  return Object.entries(kinds).flatMap(([title, starts]) => {
    const ofKind = heard.filter((type) => starts.some((start) => type.startsWith(start)))
    const asked = title === 'All' ? [] : ofKind
    const isCurrent = types.length === asked.length && asked.every((type) => types.includes(type))
    return ofKind.length === 0 ? [] : [{ title, href: eventsUri(asked, { base }), isCurrent }]
  })
}

const lines: Representation<EventsPage> = {
  mediaType: 'application/x-ndjson',
  contentType: 'application/x-ndjson; charset=utf-8',
  suffix: 'ndjson',
  ...writerInPieces(function* ({ events }, context) {
    const write = (event: ShopEvent) => `${JSON.stringify(toJson(eventElement(event, context), eventType))}\n`
    const written = yield* inPieces(events, (some) => some.map(write).join(''))
    return written.join('')
  })
}

/** The page for people shows who is signed in. */
export function eventsValidators({ version, isFinal }: Pick<EventsPage, 'version' | 'isFinal'>, caller: Caller): Validators {
  return { version, isFinal, ...pageOf(caller) }
}

const documents = makeListRepresentations<EventsPage, ShopEvent>({
  name: 'events',
  type: eventsType,
  items: ({ events }) => events,
  element: eventElement,
  html: {
    rows: (some, _, context) => {
      const events = some.map((event) => ({ ...event, time: eventTime(event), resource: eventResource(event, context.base) }))
      return renderPart('event-rows', { events }, context)
    },
    page: (page, rows, context) => {
      const data = {
        ...page,
        rows,
        isLater: isLaterPage(context.self),
        first: eventsUri(page.types, context),
        kinds: kindsOf(page, context)
      }
      return renderPage('events', 'Events', { ...data, isSeller: hasScope(context.caller, 'fulfilment') }, context)
    }
  },
  validators: (page, { caller }) => eventsValidators(page, caller),
  schema: 'events'
})

export const eventsRepresentations = { ...documents, variants: [...documents.variants, lines] }
