import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import type { ApiDescription } from '../../representations/api-description.ts'
import { browserForm, build, orderXml } from '../build.ts'
import { makeSchemaCheck, operationsOf, refsIn, resolve, routedPaths } from './api-walk.ts'

async function describe(t: Parameters<typeof build>[0], settings: Readonly<Record<string, string>> = {}) {
  const shop = await build(t, { settings })
  const base = shop.config.BASE_URL.path
  const answer = await shop.app.inject(`${base}/openapi.json`)
  t.equal(answer.statusCode, 200)
  return { ...shop, base, answer, description: answer.json<ApiDescription>() }
}

for (const BASE_URL of ['/', '/shop', 'https://example.test/a/shop']) {
  t.test(`under ${BASE_URL} the description is valid OpenAPI 3.1, and its references lead somewhere`, async (t) => {
    const { description } = await describe(t, { BASE_URL })
    const { valid, errors } = await new Validator().validate(structuredClone(description) as unknown as Record<string, unknown>)
    t.ok(valid, JSON.stringify(errors))
    const refs = new Set(refsIn(description))
    for (const $ref of refs) t.ok(resolve(description, $ref), $ref)
    const used = (name: string) => refs.has(name) || name === '#/components/responses/method-not-allowed'
    for (const kind of ['schemas', 'responses', 'parameters', 'examples'] as const) {
      for (const name of Object.keys(description.components[kind])) t.ok(used(`#/components/${kind}/${name}`), `${kind} ${name} is used`)
    }
    const ids = operationsOf(description).map(({ operation }) => operation.operationId)
    t.equal(new Set(ids).size, ids.length, 'operations have names of their own')
  })

  t.test(`under ${BASE_URL} every route and method is described, and nothing else`, async (t) => {
    const { app, base, description } = await describe(t, { BASE_URL })
    const isOutside = (path: string) => description.paths[path]?.servers !== undefined
    const described = new Set(operationsOf(description).map(({ method, path }) => `${method} ${isOutside(path) ? '' : base}${path}`))
    const offered = new Set<string>()
    for (const routed of routedPaths(app)) {
      if (routed === base) continue
      const path = routed.replace(/:(\w+)/g, '{$1}')
      const options = await app.inject({ method: 'OPTIONS', url: routed.replace(/:\w+/g, 'x') })
      for (const method of String(options.headers['allow']).toLowerCase().split(', ')) offered.add(`${method} ${path}`)
    }
    t.ok(offered.size > 40, `${offered.size} operations`)
    t.strictSame(
      [...offered].filter((one) => !described.has(one)),
      [],
      'none that is offered is not described'
    )
    t.strictSame(
      [...described].filter((one) => !offered.has(one)),
      [],
      'none that is described is not offered'
    )
  })
}

t.test('a condition, a bad key and a form from elsewhere are answered as the description says', async (t) => {
  const { app, description } = await describe(t)
  const bad = { authorization: 'Bearer tp_bad' }
  const rows = [
    ['post', '/order', { 'content-type': 'application/xml', 'if-match': '"x"' }, orderXml(), 412],
    ['get', '/order', { 'if-match': '"x"' }, undefined, 412],
    ['post', '/session', { ...browserForm, 'sec-fetch-site': 'cross-site' }, 'key=x', 403],
    ['post', '/session', browserForm, 'key=x', 422],
    ['options', '/products', bad, undefined, 401],
    ['options', '/product/{product_id}', bad, undefined, 401]
  ] as const
  for (const [method, path, headers, payload, status] of rows) {
    const answer = await app.inject({
      method,
      url: path.replace(/\{\w+\}/, 'ABC-1'),
      headers,
      ...(payload === undefined ? {} : { payload })
    })
    t.equal(answer.statusCode, status, `${method} ${path}`)
    t.ok(description.paths[path]?.[method]?.responses[status], `${status} of ${method} ${path} is described`)
  }
  t.match(description.paths['/session']?.post?.responses[422], { content: { 'text/html': {} } })
})

t.test('the described media types are those of Accept-Post', async (t) => {
  const { app, description } = await describe(t)
  for (const [path, item] of Object.entries(description.paths)) {
    const documents = [item.post, item.put].flatMap((operation) => Object.keys(operation?.requestBody?.content ?? {}))
    const options = await app.inject({ method: 'OPTIONS', url: path.replace(/\{\w+\}/g, 'x') })
    const read = String(options.headers['accept-post'] ?? '')
      .split(', ')
      .filter((type) => type !== '')
    t.strictSame(
      read.filter((type) => !documents.includes(type)),
      [],
      path
    )
  }
})

t.test('access to every operation is as described', async (t) => {
  const { app, description, key } = await describe(t)
  const all = await key('All', 'order', 'catalogue', 'fulfilment')
  for (const { method, path, operation } of operationsOf(description)) {
    if (method === 'head' || method === 'options') continue
    const url = path.replace(/\{\w+\}/g, 'x')
    const request = { method: method.toUpperCase() as 'GET', url }
    const open = operation.security.some((requirement) => Object.keys(requirement).length === 0)
    const guest = await app.inject(request)
    t.equal(guest.statusCode === 401, !open, `${method} ${path} without a key: ${guest.statusCode}`)
    const holder = await app.inject({ ...request, headers: all })
    t.notMatch(holder.statusCode, 401, `${method} ${path} with a key`)
    const wrong = await app.inject({ ...request, headers: { authorization: 'Bearer tp_wrong' } })
    const takesKeys = operation.security.some((requirement) => Object.keys(requirement).length > 0)
    t.equal(wrong.statusCode === 401, takesKeys, `${method} ${path} with a wrong key: ${wrong.statusCode}`)
    t.equal(takesKeys, '401' in operation.responses, `401 of ${method} ${path} is described where keys are read`)
  }
})

t.test('a form that a route reads itself is described with its own fields, and so is a form that may be left out', async (t) => {
  const { description } = await describe(t)
  const { post: secret } = description.paths['/webhook/{webhook_id}/secret'] ?? {}
  t.equal(secret?.requestBody?.required, false)
  const formOf = (operation = secret) => operation?.requestBody?.content['application/x-www-form-urlencoded']?.schema
  t.strictSame(Object.keys((formOf() as { properties: object }).properties), ['_if-match'])
  t.notOk('required' in (formOf() ?? {}))
  t.match(secret?.responses[200], { content: { 'application/xml': {}, 'application/json': {}, 'text/html': {} } })
  t.match(JSON.stringify(secret?.responses[400]), 'responses/malformed-document.malformed-request"')
  t.ok(secret?.responses[413] && secret.responses[415])
  for (const status of [422, 428]) t.notOk(secret?.responses[status], `${status} is no answer`)
  const { post: signIn } = description.paths['/session'] ?? {}
  t.equal(signIn?.requestBody?.required, true)
  t.match(formOf(signIn), { properties: { key: {}, next: {}, _method: {} } })
  t.notOk('required' in (formOf(signIn) ?? {}), 'a person signs in without _method')
  t.match(formOf(description.paths['/webhook/{webhook_id}']?.post), { required: ['_method'] })
})

t.test('the description names no page of the repository, which its readers do not have', async (t) => {
  const { answer, description } = await describe(t)
  t.notMatch(answer.body, /\.md\b/)
  t.match(
    description.paths['/webhooks']?.post?.description,
    /base64 of HMAC-SHA256 over `id\.timestamp\.body`/,
    'but how to verify a webhook'
  )
})

t.test('a DELETE with a body is 415, as described', async (t) => {
  const { app, description, key } = await describe(t)
  const all = await key('All', 'order', 'catalogue', 'fulfilment')
  const deletes = operationsOf(description).filter(({ method }) => method === 'delete')
  t.ok(deletes.length > 3)
  for (const { path, operation } of deletes) {
    const url = path.replace(/\{\w+\}/g, 'x')
    const answer = await app.inject({ method: 'DELETE', url, headers: { ...all, 'content-type': 'application/xml' }, payload: '<a/>' })
    t.equal(answer.statusCode, 415, path)
    t.notOk(answer.headers['accept'], 'there is no media type to send')
    t.ok(operation.responses[415], `415 of ${path} is described`)
  }
})

t.test('without guest orders the description does not offer them', async (t) => {
  const { description } = await describe(t, { GUEST_ORDERS: 'off' })
  t.strictSame(description.paths['/order']?.post?.security, [{ bearer: ['order'] }, { basic: ['order'] }])
})

/** An XML document is described by the schema of its JSON. */
function isXml(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('<')
}

t.test('examples are valid by the schemas that they stand beside', async (t) => {
  const { description } = await describe(t)
  const check = makeSchemaCheck(description)
  let checked = 0
  for (const { operation } of operationsOf(description)) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)]
    for (const body of bodies) {
      if (!body || '$ref' in body) continue
      for (const { schema, examples = {} } of Object.values(body.content ?? {})) {
        for (const [name, { $ref }] of Object.entries(examples)) {
          const { value } = resolve(description, $ref) as { value: unknown }
          if (isXml(value)) continue
          checked += 1
          t.equal(check(schema, value), '', `${operation.operationId} ${name}`)
        }
      }
    }
  }
  t.ok(checked > 15, `${checked} examples`)
})

t.test('conditions, preferences and header fields are described where they are, and only there', async (t) => {
  const { description } = await describe(t)
  const of = (id: string) => {
    const operation = operationsOf(description).find((one) => one.operation.operationId === id)?.operation
    return JSON.stringify(operation?.parameters ?? []) + JSON.stringify(operation?.responses ?? {})
  }
  const [waits, original, shown, again] = [of('listEvents'), of('getOrderDocument'), of('createWebhook'), of('sendAgain')]
  t.match(waits, /parameters\/Prefer"[\s\S]*headers\/PreferenceApplied"/)
  for (const part of ['parameters/IfNoneMatch', 'headers/ETag', '"304"', '"412"', 'vnd.oasis.ubl+xml']) t.match(original, part)
  t.match(of('getOrderResponse'), 'headers/ETag')
  for (const part of ['parameters/Prefer', 'headers/ETag', 'ContentLocation', '"204"']) t.notMatch(shown + of('newWebhookSecret'), part)
  t.notMatch(again, 'ContentLocation')
  t.match(of('shipOrder'), 'parameters/IfMatch')
  const { responses } = description.components
  t.ok(responses['cursor-expired']?.headers?.['Link'])
  t.ok(responses['unsupported-media-type']?.headers?.['Accept'])
  for (const { operation } of operationsOf(description)) {
    const { 204: none, 303: elsewhere } = operation.responses
    t.notMatch(JSON.stringify([none, elsewhere]), 'ContentLocation', operation.operationId)
    t.notMatch(JSON.stringify(elsewhere ?? {}), 'PreferenceApplied', operation.operationId)
  }
})

t.test('the example of the list of orders has summaries, as the list has by default', async (t) => {
  const { description } = await describe(t)
  const { examples } = description.components as unknown as { examples: Record<string, { value: { order: object[] } }> }
  t.match(examples['orders.json']?.value.order, [{ itemCount: '1', item: undefined }])
})

t.test('the limits of the shop are in the description', async (t) => {
  const { description } = await describe(t, { MAX_ORDER_ITEMS: '7' })
  const purchaseOrder = description.components.schemas['PurchaseOrder'] as { properties: { item: { maxItems: number } } }
  t.equal(purchaseOrder.properties.item.maxItems, 7)
  const { properties } = description.components.schemas['Product'] as { properties: Readonly<Record<string, object>> }
  t.ok(properties['minimumQuantity'] && properties['quantityStep'], 'and those of a product')
})

t.test('the description is cached as the catalogue is, and revalidated (RFC 9110 section 13.1.2)', async (t) => {
  const { app, answer } = await describe(t)
  t.match(answer.headers['cache-control'], /^public, max-age=/)
  t.match(answer.headers['content-type'], 'application/json')
  const again = await app.inject({ url: '/openapi.json', headers: { 'if-none-match': String(answer.headers['etag']) } })
  t.equal(again.statusCode, 304)
  t.equal((await app.inject({ url: '/openapi.json', headers: { accept: 'text/html' } })).statusCode, 406)
})
