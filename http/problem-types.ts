import { transitionText } from '../domain/order.ts'
import { documentLimits } from '../schemas/document-limits.ts'
import { keyPrefix } from './masked-names.ts'
import type { ProblemCode } from './problem-codes.ts'

export interface ProblemType {
  readonly status: number
  readonly title: string
  /** The meaning of the problem, and advice. This is the text of its page. */
  readonly explanation: string
}

/** The registry of problem types. Tests pin the codes and statuses, and compare the titles with docs/http-api.md. */
export const problemTypes: Readonly<Record<ProblemCode, ProblemType>> = {
  'malformed-document': {
    status: 400,
    title: 'The document is malformed',
    explanation:
      'The body is not well-formed XML, JSON or form data in UTF-8. The detail says where the error is. Correct the document and send it again.'
  },
  'forbidden-xml': {
    status: 400,
    title: 'The XML uses a feature that is not accepted here',
    explanation: `XML documents must be in UTF-8 and must not have custom entities or a document type declaration (DOCTYPE), except that cXML may name its DTD. A tag may have up to ${documentLimits.tag / 1024} Ki characters, a text up to ${documentLimits.text / 1024} Ki (an embedded file of UBL may have more), and elements may be nested up to ${documentLimits.depth} levels deep. The number of elements and attributes is limited to what the largest order needs. Send plain elements and attributes.`
  },
  'malformed-request': {
    status: 400,
    title: 'The request is malformed',
    explanation:
      'A header, a query parameter or the request line itself is not valid. The detail says which one, and which values are valid.'
  },
  unauthenticated: {
    status: 401,
    title: 'Sign in, or send a valid API key',
    explanation: `Send an API key from the shop: "Authorization: Bearer ${keyPrefix}…", or Basic with the key as the password. A wrong, expired or revoked key is refused on every request, even where no key is needed.`
  },
  forbidden: {
    status: 403,
    title: 'This is not allowed',
    explanation:
      'The API key is valid, but it does not have the scope for this request: ask the shop for a key with that scope. Or a form was sent from a page of another site: open the page of this shop and send the form again.'
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    explanation:
      'There is no page or other resource at this address. Start at the home page and follow its links. Paths do not end with a slash.'
  },
  'product-not-found': {
    status: 404,
    title: 'There is no such product',
    explanation: 'No product has ever had this id. GET /products lists all products with their ids, and /products?q=… searches them.'
  },
  'order-not-found': {
    status: 404,
    title: 'There is no such order',
    explanation:
      'No order has this URI, or you may not see it. An order of a customer can be seen only with a key of that customer, or with the scope fulfilment.'
  },
  'webhook-not-found': {
    status: 404,
    title: 'There is no such webhook',
    explanation: 'There is no webhook with this id, or it belongs to another customer. The list of webhooks shows yours.'
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not allowed here',
    explanation: 'The resource exists, but does not support this method. The Allow header lists the methods that it supports.'
  },
  'not-acceptable': {
    status: 406,
    title: 'No media type that you accept is available',
    explanation: 'The Accept header includes none of the media types of this resource. The problem lists them. Nothing was stored.'
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    explanation: 'The headers or the body did not arrive completely in time. Send the request again.'
  },
  'product-exists': {
    status: 409,
    title: 'A product with this id already exists',
    explanation: 'POST creates a product. To replace the existing product, send PUT to its URI with If-Match.'
  },
  'gtin-taken': {
    status: 409,
    title: 'Another product has this GTIN',
    explanation:
      'Each GTIN can belong to one product only. Leading zeros do not count. Correct the GTIN, or delete the other product first.'
  },
  'order-refused': {
    status: 409,
    title: 'The order cannot be placed now',
    explanation:
      'There is not enough stock, a price is not the expected one, or the change leaves less than was shipped already. The problem lists every item concerned. Nothing was stored. Change the order, or try again later.'
  },
  'order-number-taken': {
    status: 409,
    title: 'Another order already has this order number',
    explanation:
      'You have already placed a different order with this number. The problem links to it. Change that order, or use another number.'
  },
  'transition-refused': {
    status: 409,
    title: 'The status of the order does not allow this',
    explanation:
      `An order's status changes in these steps: ${transitionText}. ` +
      'An order can be changed while it is received or accepted, and shipped while it is accepted.'
  },
  'shipment-refused': {
    status: 409,
    title: 'The shipment has more than is left of the order',
    explanation:
      'Part of the order was shipped before. The problem lists every line concerned, with what is left of it. Nothing was stored. Read the order again, and ship what is left.'
  },
  'idempotency-in-flight': {
    status: 409,
    title: 'The first request with this key is still in progress',
    explanation: 'Wait a moment and send the same request again. It gets the response of the first request.'
  },
  'too-many-webhooks': {
    status: 409,
    title: 'There are too many webhooks',
    explanation: 'The number of webhooks is limited, for each customer and for the shop. Delete one that is no longer used.'
  },
  'product-deleted': {
    status: 410,
    title: 'The product is no longer sold',
    explanation: 'The product with this id was deleted. Orders of it remain unchanged.'
  },
  'cursor-expired': {
    status: 410,
    title: 'The event of this cursor is no longer kept',
    explanation:
      'Events are kept for a number of days, and the event in "after" is gone. Store the next link of this problem, read all orders and products again, and then go on from that link.'
  },
  'precondition-failed': {
    status: 412,
    title: 'The resource is not in the state that you expected',
    explanation:
      'The condition in If-Match, If-None-Match or If-Unmodified-Since is false: the resource has changed, or it already exists. GET it again, redo your change and send it with the new ETag.'
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    explanation: 'The detail names the limit. Send a smaller document: a large order can be split into several.'
  },
  'uri-too-long': { status: 414, title: 'The URI is too long', explanation: 'The detail names the limit.' },
  'unsupported-media-type': {
    status: 415,
    title: 'The media type of the body is not supported here',
    explanation:
      'Send one of the media types in the Accept field of this response, in UTF-8 and without a content coding. If there is no such field, send no body.'
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation cannot be met',
    explanation: 'The Expect header has another value than 100-continue. Send the request without this header.'
  },
  'invalid-document': {
    status: 422,
    title: 'The document is not valid',
    explanation:
      'Something in the document is missing, unknown or not in the right form. The problem lists each error with its place in the document. Correct them and send the document again: nothing was stored. The API description says what each document can have.'
  },
  'document-too-costly': {
    status: 422,
    title: 'The document takes too long to read',
    explanation:
      'The document took longer to read than the service allows. Nothing was stored. Send it in smaller parts, or with fewer errors.'
  },
  'invalid-product': {
    status: 422,
    title: 'The shop cannot sell this product',
    explanation:
      'The document is valid, but the shop cannot sell such a product, for example because its price is in another currency. Nothing was stored.'
  },
  'invalid-order': {
    status: 422,
    title: 'The order cannot be placed without a change',
    explanation:
      "A product is unknown, a unit is not the product's, or the currency is not the shop's. The problem lists every item concerned. Nothing was stored."
  },
  'invalid-status': {
    status: 422,
    title: 'The status does not fit the order',
    explanation:
      'The order has no such line, a line is given twice, or the notes of the order and its lines would be too long together. The problem says which. Nothing was stored.'
  },
  'invalid-shipment': {
    status: 422,
    title: 'The shipment does not fit the order',
    explanation:
      'The order has no such line, a line is given twice, or a unit is not the one that was ordered. The problem lists every item concerned. Nothing was stored.'
  },
  'invalid-webhook': {
    status: 422,
    title: 'The shop cannot deliver to this webhook',
    explanation:
      'A webhook needs a public https URL without user name, password and fragment; other hosts must be allowed by the shop. Its types must be among those that the key may see. The problem says what is wrong. Nothing was stored.'
  },
  'unknown-event': {
    status: 422,
    title: 'There is no such event to send again',
    explanation:
      'The event is unknown, is no longer kept, or is one that this webhook does not deliver. Take its id from the list of deliveries.'
  },
  'identity-mismatch': {
    status: 422,
    title: 'The document names another resource',
    explanation: 'With PUT, the URI identifies the resource. Leave the id out of the document, or send the same id as in the URI.'
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key was used for another request',
    explanation: 'This Idempotency-Key was used before with other content. Use a new key for a new request.'
  },
  'precondition-required': {
    status: 428,
    title: 'A precondition is required',
    explanation:
      "A PUT that replaces a resource needs If-Match with the ETag of the version that you read, so that nobody's change is lost."
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    explanation:
      'You have sent too many requests, or too many of your searches and catalogue downloads are in progress. The Retry-After header says when you can continue. Documents that are large or take long to process count as several requests.'
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    explanation:
      'There are too many headers, or they are too long in total. The usual reason is cookies, which an API client does not need.'
  },
  'internal-error': {
    status: 500,
    title: 'Something went wrong here',
    explanation:
      'This is an error of the service. It was logged under the request id. You can safely repeat an order with the same Idempotency-Key.'
  },
  'not-implemented': {
    status: 501,
    title: 'The service does not implement this part of HTTP',
    explanation: 'The service does not implement the method or the transfer coding of the request. Method names are written in capitals.'
  },
  'version-not-supported': {
    status: 505,
    title: 'The version of HTTP is not supported',
    explanation: 'The service supports HTTP/1.1 and HTTP/1.0. A reverse proxy in front of it may support more.'
  },
  overloaded: {
    status: 503,
    title: 'The service is too busy',
    explanation: 'Try again after the time in Retry-After. You can safely repeat an order with the same Idempotency-Key.'
  },
  stopping: {
    status: 503,
    title: 'The service is stopping',
    explanation: 'The request was not processed. Send it again over a new connection, after the time in Retry-After.'
  },
  'store-overloaded': {
    status: 503,
    title: 'The database has too much to do',
    explanation: 'Try again after the time in Retry-After. You can safely repeat an order with the same Idempotency-Key.'
  },
  'store-unavailable': {
    status: 503,
    title: 'The database is not available',
    explanation:
      'Try again after the time in Retry-After. A write in progress may or may not have been stored. You can safely repeat it with the same Idempotency-Key.'
  }
}
