import type { ShopEvent } from '../domain/event.ts'
import { toJson } from '../schemas/json.ts'
import { writeXml } from '../schemas/xml.ts'
import { eventElement, eventTime, eventType } from './events.ts'
import type { Context, WritableRepresentations } from './representation.ts'

const json = 'application/json'
const xml = 'application/xml'

function writeJson(event: ShopEvent, context: Context): string {
  return JSON.stringify({ type: event.type, timestamp: eventTime(event), data: toJson(eventElement(event, context), eventType) })
}

/** The body that a webhook's receiver gets: the event as Standard Webhooks wants it, or the `<event>` of the feed. */
export const deliveryBody: WritableRepresentations<ShopEvent> = {
  name: 'delivery',
  variants: [
    { mediaType: json, contentType: json, suffix: 'json', write: writeJson },
    { mediaType: xml, contentType: xml, suffix: 'xml', write: (event, context) => writeXml(eventElement(event, context)) }
  ]
}
