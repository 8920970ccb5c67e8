import type { DomainErrorCode } from '../domain/errors.ts'

export interface ProblemType {
  readonly status: number
  readonly title: string
  /** What it means and what to do: the text of its page. */
  readonly explanation: string
}

/** What HTTP itself refuses, before or beside the rules of the shop. */
export type HttpProblemCode =
  | 'malformed-document'
  | 'forbidden-xml'
  | 'malformed-request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'request-timeout'
  | 'body-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
  | 'invalid-document'
  | 'document-too-costly'
  | 'precondition-required'
  | 'too-many-requests'
  | 'headers-too-large'
  | 'expectation-failed'
  | 'internal-error'
  | 'not-implemented'
  | 'version-not-supported'
  | 'overloaded'
  | 'stopping'

export type ProblemCode = DomainErrorCode | HttpProblemCode

/** The registry: each code once, with its status. docs/http-api.md lists the same, and a test pins them. */
export const problemTypes: Readonly<Record<ProblemCode, ProblemType>> = {
  'malformed-document': {
    status: 400,
    title: 'The document is malformed',
    explanation:
      'The body is not well-formed XML, JSON or form data in UTF-8. The detail says where the reader stopped. Mend the document and send it again.'
  },
  'forbidden-xml': {
    status: 400,
    title: 'The XML uses what is not accepted here',
    explanation:
      'XML documents are UTF-8, have no document type declaration (DOCTYPE) and so no entities of their own, no tag of more than 8 Ki characters, no text of more than 64 Ki, no more than 100 levels, and no more elements and attributes than the largest order needs. Send plain elements and attributes.'
  },
  'malformed-request': {
    status: 400,
    title: 'The request is malformed',
    explanation: 'A header, a query parameter or the request line itself cannot be understood. The detail names it and what it may be.'
  },
  unauthenticated: {
    status: 401,
    title: 'A valid API key is needed',
    explanation:
      'Send an API key that the shop made for you: "Authorization: Bearer tp_…", or Basic with the key as the password. A key that is wrong, expired or revoked is refused everywhere, also where none is needed.'
  },
  forbidden: {
    status: 403,
    title: 'This is not allowed',
    explanation:
      'The API key is valid, but lacks the scope that this needs: ask the shop for a key with it. Or a form was sent by a page of another site: open the page here and send it again.'
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    explanation: 'No resource has this URI. Follow the links from the service at its root; a path has no slash at its end.'
  },
  'product-not-found': {
    status: 404,
    title: 'There is no such product',
    explanation: 'No product has ever had this id. The collection of products lists those there are.'
  },
  'order-not-found': {
    status: 404,
    title: 'There is no such order',
    explanation: 'No order has this URI, or it is not yours to see: an order with a customer is seen with that customer’s key only.'
  },
  'method-not-allowed': {
    status: 405,
    title: 'The method is not offered here',
    explanation: 'The resource exists, but not for this method. The Allow header lists the methods that it has.'
  },
  'not-acceptable': {
    status: 406,
    title: 'There is no representation that you accept',
    explanation: 'The Accept header leaves out every media type that this resource has. The problem lists them. Nothing was stored.'
  },
  'request-timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    explanation: 'Headers or body were not complete in time. Send the request again.'
  },
  'product-exists': {
    status: 409,
    title: 'There is a product with this id',
    explanation: 'POST creates; to replace the product that there is, PUT to its URI with If-Match.'
  },
  'gtin-taken': {
    status: 409,
    title: 'Another product has this GTIN',
    explanation: 'A GTIN names one product among those there are. Correct it, or delete the other product first.'
  },
  'order-refused': {
    status: 409,
    title: 'The order cannot be placed now',
    explanation:
      'Stock is short, or a price is not the expected one. Every item that stands in the way is named. Nothing was stored; change the order, or try later.'
  },
  'order-number-taken': {
    status: 409,
    title: 'The order number stands with other content',
    explanation:
      'You placed an order with this number before, and it says something else. The problem links it. Change that order, or use another number.'
  },
  'transition-refused': {
    status: 409,
    title: 'The order cannot go there from where it is',
    explanation:
      'received goes to accepted, rejected or cancelled; accepted to shipped or cancelled; shipped to completed. An order can be changed while it is received or accepted.'
  },
  'idempotency-in-flight': {
    status: 409,
    title: 'The first request with this key is still in progress',
    explanation: 'Wait a moment and send the same request again: it will be answered with what became of the first.'
  },
  'product-deleted': {
    status: 410,
    title: 'The product is no longer sold',
    explanation: 'There was a product with this id; it was deleted. Orders that name it stay whole.'
  },
  'precondition-failed': {
    status: 412,
    title: 'It is not as you expected it',
    explanation:
      'If-Match, If-None-Match or If-Unmodified-Since does not hold: somebody else changed it, or it is there already. GET it again, redo your change, send it with the new ETag.'
  },
  'body-too-large': { status: 413, title: 'The body is too large', explanation: 'The limit is named in the detail. Split the order.' },
  'uri-too-long': { status: 414, title: 'The URI is too long', explanation: 'The limit is named in the detail.' },
  'unsupported-media-type': {
    status: 415,
    title: 'The media type of the body is not supported here',
    explanation: 'Send one of the media types in the Accept-Post header, in UTF-8 and without a content coding.'
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation cannot be met',
    explanation: 'Expect names something other than 100-continue. Send the request without it.'
  },
  'invalid-document': {
    status: 422,
    title: 'The document is not valid',
    explanation:
      'It is well-formed, but not as its schema wants it. Every error is listed with its place. The schemas are published under /schemas/. Nothing was stored.'
  },
  'document-too-costly': {
    status: 422,
    title: 'The document takes too long to read',
    explanation:
      'Reading the document took more time than one document may take, so the service stopped. Nothing was stored. Send it in smaller parts, or with fewer errors.'
  },
  'invalid-product': {
    status: 422,
    title: 'The product can never be stored as it is',
    explanation: 'The document is valid, but this shop cannot sell what it says, for example in another currency.'
  },
  'invalid-order': {
    status: 422,
    title: 'The order can never be placed as it is',
    explanation:
      'A product is unknown, a unit is not the product’s, or the currency is not the shop’s. Every item that stands in the way is named. Nothing was stored.'
  },
  'identity-mismatch': {
    status: 422,
    title: 'The document names another product',
    explanation: 'On PUT the URI decides which product it is. Leave the id out of the document, or make the two agree.'
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key was used for another request',
    explanation: 'The same Idempotency-Key came with other bytes before. Use a new key for a new order.'
  },
  'precondition-required': {
    status: 428,
    title: 'Say which version you replace',
    explanation: 'A PUT that replaces needs If-Match with the ETag of what you read, so that nobody’s change is lost.'
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    explanation:
      'The Retry-After header says when to go on. Large documents, and those that take long, count as several requests. Or too many searches or readings of the catalogue of yours are under way: wait for their answers.'
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    explanation: 'They are too many, or too long together. Cookies are the usual reason: none is needed here.'
  },
  'internal-error': {
    status: 500,
    title: 'Something went wrong here',
    explanation: 'It is our fault, and it was logged under the request id. A repeated order with the same Idempotency-Key is safe.'
  },
  'not-implemented': {
    status: 501,
    title: 'HTTP has this, the service has not',
    explanation: 'The method, or the transfer coding of the body, is none that is implemented here. Methods are written in capitals.'
  },
  'version-not-supported': {
    status: 505,
    title: 'The version of HTTP is not spoken here',
    explanation: 'The service speaks HTTP/1.1 and HTTP/1.0; a reverse proxy in front of it may speak more.'
  },
  overloaded: {
    status: 503,
    title: 'The service is too busy',
    explanation: 'Try again after the time in Retry-After. A repeated order with the same Idempotency-Key is safe.'
  },
  stopping: {
    status: 503,
    title: 'The service is stopping',
    explanation: 'Nothing was made of the request: send it again, over a new connection, after the time in Retry-After.'
  },
  'store-overloaded': {
    status: 503,
    title: 'Too many writes are waiting',
    explanation: 'Try again after the time in Retry-After. A repeated order with the same Idempotency-Key is safe.'
  },
  'store-unavailable': {
    status: 503,
    title: 'The database is out of reach',
    explanation:
      'Try again after the time in Retry-After. Whether a write that was under way was stored is not known; with the same Idempotency-Key, repeating it is safe.'
  }
}

/** What Fastify and its plugins refuse themselves has no code of this service: by its status. */
export const codesByStatus: Readonly<Record<number, ProblemCode>> = {
  400: 'malformed-request',
  404: 'not-found',
  405: 'method-not-allowed',
  408: 'request-timeout',
  413: 'body-too-large',
  414: 'uri-too-long',
  415: 'unsupported-media-type',
  429: 'too-many-requests',
  431: 'headers-too-large',
  500: 'internal-error',
  503: 'overloaded'
}
