import t from 'tap'
import { DomainError, type DomainErrorCode } from '../../domain/errors.ts'
import { Problem } from '../../http/problem.ts'
import type { HttpProblemCode } from '../../http/problem-codes.ts'
import { problemTypes } from '../../http/problem-types.ts'
import { build } from '../build.ts'
import { faultsByPublishedSchema } from '../representations/published.ts'

/** A code is never reused, and never changes its status: clients rely on both. */
const domainCodes: Readonly<Record<DomainErrorCode, number>> = {
  'product-not-found': 404,
  'product-deleted': 410,
  'product-exists': 409,
  'gtin-taken': 409,
  'identity-mismatch': 422,
  'invalid-product': 422,
  'order-not-found': 404,
  'invalid-order': 422,
  'order-refused': 409,
  'order-number-taken': 409,
  'transition-refused': 409,
  'shipment-refused': 409,
  'invalid-shipment': 422,
  'invalid-status': 422,
  'precondition-failed': 412,
  'idempotency-key-reused': 422,
  'webhook-not-found': 404,
  'invalid-webhook': 422,
  'too-many-webhooks': 409,
  'unknown-event': 422,
  'store-unavailable': 503,
  'store-overloaded': 503
}
const httpCodes: Readonly<Record<HttpProblemCode, number>> = {
  'malformed-document': 400,
  'forbidden-xml': 400,
  'malformed-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'cursor-expired': 410,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'request-timeout': 408,
  'body-too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'expectation-failed': 417,
  'invalid-document': 422,
  'document-too-costly': 422,
  'precondition-required': 428,
  'idempotency-in-flight': 409,
  'too-many-requests': 429,
  'headers-too-large': 431,
  'internal-error': 500,
  'not-implemented': 501,
  overloaded: 503,
  stopping: 503,
  'version-not-supported': 505
}
const pinned: Readonly<Record<string, number>> = { ...domainCodes, ...httpCodes }

t.test('every code has its status, and there is no other code', async (t) => {
  const registered = Object.fromEntries(Object.entries(problemTypes).map(([code, { status }]) => [code, status]))
  t.same(registered, pinned)
})

t.test('every problem type has its page, in XML, HTML and JSON (RFC 9457 3.1.1)', async (t) => {
  const { app } = await build(t)
  for (const [code, status] of Object.entries(pinned)) {
    const get = (accept: string) => app.inject({ url: `/problems/${code}`, headers: { accept } })
    const [inXml, inHtml, inJson] = [await get('application/xml'), await get('text/html'), await get('application/json')]
    for (const { statusCode, headers } of [inXml, inHtml, inJson]) {
      t.equal(statusCode, 200, code)
      t.notMatch(headers['content-type'], /problem/, 'an explanation is no problem')
    }
    t.same(await faultsByPublishedSchema(app, inXml.body), [], code)
    t.match(inJson.json(), { type: `/problems/${code}`, status, title: /\w/, detail: /\w{3}.*\.$/ })
    t.match(inHtml.body, /<html lang="en"/)
    t.match(inHtml.body, String(inJson.json<{ title: string }>().title).replace(/[’']/g, '’').split('’')[0] ?? '')
  }
  t.equal((await app.inject('/problems/none')).statusCode, 404)
  t.equal((await app.inject('/problems/constructor')).statusCode, 404)
})

t.test('every problem is sent with its status, valid against the published schema, in the form that was asked for', async (t) => {
  const { app } = await build(t)
  const awkward = 'A "detail" with <markup>, an & and a 😀.'
  const faults = [
    { detail: awkward, code: 'out-of-stock' as const, at: ['item', 2, 'quantity'] },
    { detail: awkward, line: 3, path: '/a/b[2]' },
    { detail: 'One.' }
  ]
  const thrown = new Map<string, Error>([
    ...Object.keys(domainCodes).map((code): [string, Error] => [
      code,
      new DomainError(code as DomainErrorCode, awkward, { faults, orderId: '1' })
    ]),
    ...Object.keys(httpCodes).map((code): [string, Error] => [
      code,
      new Problem(code as HttpProblemCode, awkward, { faults, available: ['a', '<b>'] })
    ])
  ])
  app.addHook('onRequest', async ({ headers }) => {
    const error = thrown.get(String(headers['x-throw']))
    if (error) throw error
  })
  for (const [code, status] of Object.entries(pinned)) {
    const get = (accept: string) => app.inject({ url: '/order', headers: { 'x-throw': code, accept } })
    const inXml = await get('application/xml')
    t.equal(inXml.statusCode, status, code)
    t.equal(inXml.headers['content-type'], 'application/problem+xml')
    t.same(await faultsByPublishedSchema(app, inXml.body), [], code)
    const inJson = await get('application/json')
    t.match(inJson.json(), {
      type: `/problems/${code}`,
      status,
      title: problemTypes[code as HttpProblemCode].title,
      detail: awkward,
      instance: '/order'
    })
    t.match(inJson.headers['content-type'], /^application\/problem\+json/)
    t.equal((await get('text/html')).headers['content-type'], 'text/html; charset=utf-8')
  }
})
