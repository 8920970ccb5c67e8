import t from 'tap'
import { build, draft } from '../build.ts'
import { hidden, html, line, placedUri, post } from './form-post.ts'

t.test('a form is never kept, and each has a new idempotency key', async (t) => {
  const { app } = await build(t)
  const [one, two] = [await app.inject({ url: '/order', headers: html }), await app.inject({ url: '/order', headers: html })]
  t.equal(one.headers['cache-control'], 'no-store')
  t.match(hidden(one.body, '_idempotency-key'), /^[0-9a-f-]{36}$/)
  t.not(hidden(one.body, '_idempotency-key'), hidden(two.body, '_idempotency-key'))
})

t.test('a form that is sent twice places one order, and leads to it both times', async (t) => {
  const { app, store } = await build(t)
  const fields = { ...line, '_idempotency-key': 'the-key-of-the-form-k-1' }
  const [one, two] = [await post(app, '/order', fields), await post(app, '/order', fields)]
  t.same([one.statusCode, two.statusCode], [303, 303])
  t.equal(one.headers['location'], two.headers['location'])
  t.equal((await store.orders({ limit: 10 })).items.length, 1)
})

t.test('a refused form comes back with its status, its key and what was typed; each error is beside its field', async (t) => {
  const { app, store } = await build(t, { products: { 'ABC-1': { onHand: '2' as never } } })
  const cases: readonly (readonly [fields: Record<string, string>, status: number, field: string, text: RegExp])[] = [
    [{ 'item.1.product-id': 'NOPE', 'item.1.quantity': '1' }, 422, 'item.1.product-id', /no product/],
    [{ 'item.1.product-id': 'ABC-1', 'item.1.quantity': 'many' }, 422, 'item.1.quantity', /Quantity is &quot;many&quot;/],
    [{ 'item.1.product-id': 'ABC-1', 'item.1.quantity': '1,5' }, 422, 'item.1.quantity', /Quantity is &quot;1,5&quot;.* Write 1\.5\.$/],
    [{ 'item.7.product-id': 'ABC-1' }, 422, 'item.7.quantity', /how many/],
    [{ 'item.2.quantity': '1' }, 422, 'item.2.product-id', /Choose a product/],
    [line, 409, 'item.1.quantity', /not enough/],
    [{ ...line, 'item.1.quantity': '1', 'buyer.email': 'nobody' }, 422, 'buyer.email', /E-mail is/],
    [{ ...line, 'item.1.quantity': '1', 'ship-to.address.country': 'Germany' }, 422, 'ship-to.address.country', /Country is &quot;Germany/],
    [{ 'buyer.name': 'No lines' }, 422, 'item.1.product-id', /no line yet/]
  ]
  for (const [fields, status, field, text] of cases) {
    const answer = await post(app, '/order', { ...fields, '_idempotency-key': 'the-key-of-the-form-k-2', 'note.1': 'kept <here>' })
    t.equal(answer.statusCode, status, JSON.stringify(fields))
    t.match(answer.headers['content-type'], /^text\/html/)
    t.equal(answer.headers['cache-control'], 'no-store')
    t.equal(hidden(answer.body, '_idempotency-key'), 'the-key-of-the-form-k-2')
    const id = field.replaceAll('.', '\\.')
    t.match(answer.body, new RegExp(`<input id="${id}"[^>]*aria-invalid="true" aria-describedby="${id}-error[" ]`))
    t.match(new RegExp(`<p class="wrong" id="${id}-error">(.*?)</p>`).exec(answer.body)?.[1], text)
    t.match(answer.body, `<a href="#${field}">`)
    t.match(answer.body, 'kept &lt;here&gt;')
    for (const [name, value] of Object.entries(fields)) t.match(answer.body, `name="${name}" value="${value}"`)
  }
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
})

t.test('a refused form lists its errors in the order of its fields, and says nothing of a document', async (t) => {
  const { app } = await build(t)
  const { body } = await post(app, '/order', { 'item.1.product-id': 'ABC-1', 'item.1.quantity': 'many', 'buyer.email': 'nobody' })
  const [notice = ''] = /<div class="notice problem".*?<\/div>/s.exec(body) ?? []
  t.same(
    [...notice.matchAll(/href="#([^"]*)"/g)].map(([, field]) => field),
    ['item.1.quantity', 'buyer.email']
  )
  t.match(notice, 'The order has errors')
  t.notMatch(notice, /document|schema/)
  const unknown = await post(app, '/order', { 'item.1.product-id': 'NONE', 'item.1.quantity': '1' })
  t.match(unknown.body, 'The order has errors')
})

t.test('a line without its product and with a quantity that is none is wrong in both', async (t) => {
  const { app } = await build(t)
  const { statusCode, body } = await post(app, '/order', { 'item.1.quantity': 'many' })
  t.equal(statusCode, 422)
  const wrong = (field: string) => new RegExp(`<p class="wrong" id="${field}-error">(.*?)</p>`).exec(body)?.[1]
  t.match(wrong('item.1.product-id'), /Choose a product/)
  t.match(wrong('item.1.quantity'), /Quantity is &quot;many&quot;/)
})

t.test('a key that was used for another order is replaced in the form', async (t) => {
  const { app } = await build(t)
  await post(app, '/order', { ...line, '_idempotency-key': 'the-key-of-the-form-k-3' })
  const answer = await post(app, '/order', { ...line, 'item.1.quantity': '4', '_idempotency-key': 'the-key-of-the-form-k-3' })
  t.equal(answer.statusCode, 422)
  const key = hidden(answer.body, '_idempotency-key')
  t.ok(key && key !== 'the-key-of-the-form-k-3')
})

t.test('a machine that posts a form gets the problem document', async (t) => {
  const { app } = await build(t)
  for (const accept of ['application/xml', 'application/json', '*/*']) {
    const answer = await post(app, '/order', { 'item.1.product-id': 'NOPE', 'item.1.quantity': '1' }, { accept })
    t.equal(answer.statusCode, 422)
    t.match(answer.headers['content-type'], /^application\/problem\+(xml|json)/)
    t.match(answer.body, 'item.1.product-id')
  }
})

t.test('adding lines keeps the input, validates nothing and stores nothing', async (t) => {
  const { app, store } = await build(t)
  const answer = await post(app, '/order', {
    'item.1.product-id': 'half',
    'item.4.quantity': '',
    '_idempotency-key': 'the-key-of-the-form-k-4',
    _more: '5',
    'buyer.email': 'not yet'
  })
  t.equal(answer.statusCode, 200)
  t.match(answer.body, 'value="half"')
  t.match(answer.body, 'value="not yet"')
  t.equal(answer.body.match(/<li data-line=/g)?.length, 7)
  t.equal(hidden(answer.body, '_idempotency-key'), 'the-key-of-the-form-k-4')
  t.equal((await store.orders({ limit: 10 })).items.length, 0)
})

t.test('the first button of an order form, which Enter presses, only looks up what was typed', async (t) => {
  const { app, store } = await build(t, {
    products: { 'ABC-1': { gtin: '4006381333931' }, '9520714000376': {}, OTHER: { gtin: '9520714000376' } }
  })
  const uri = placedUri(await post(app, '/order', line))
  for (const url of ['/order', `${uri}?form=change`]) {
    const { body } = await app.inject({ url, headers: html })
    t.match(/<form method="post"[^>]* id="order".*?(<button[^>]*>)/s.exec(body)?.[1], /name="_more" value="0" formnovalidate/, url)
  }
  const scanned = {
    'item.1.product-id': ' 4006381333931',
    'item.2.product-id': '9520714000376',
    'item.3.product-id': '40063813',
    'item.4.product-id': '04006381333931',
    _more: '0'
  }
  for (const [url, more] of [
    ['/order', {}],
    [uri, { _method: 'PUT', '_if-match': '*' }]
  ] as const) {
    const answer = await post(app, url, { ...scanned, ...more })
    t.equal(answer.statusCode, 200, url)
    t.match(answer.body, 'name="item.1.product-id" value="ABC-1"', 'a barcode becomes the number of its product')
    t.match(answer.body, 'name="item.4.product-id" value="ABC-1"', 'whatever zeros it begins with')
    t.match(answer.body, 'name="item.2.product-id" value="9520714000376"', 'but for a number that looks like one')
    t.match(answer.body, 'name="item.3.product-id" value="40063813"', 'and for one that nobody has')
    t.match(answer.body, /<output[^>]*><bdi>[^<]*<\/bdi>, €9\.99 each<\/output>/, 'what it is, and its price')
    t.match(answer.body, /<input id="item.5.product-id"[^>]* autofocus/, 'the next scan goes into the next line')
  }
  const full = Object.fromEntries([1, 2, 3, 4].map((i) => [`item.${i}.product-id`, 'ABC-1']))
  t.match(
    (await post(app, '/order', { ...full, _more: '0' })).body,
    /<input id="item.5.product-id"[^>]* autofocus/,
    'there is always a next one'
  )
  t.equal((await store.orders({ limit: 10 })).items.length, 1)
  t.equal((await store.order(uri.slice('/order/'.length))).version, 1)
})

t.test('the limits of the fields are those of the schema', async (t) => {
  const { app } = await build(t)
  const { body } = await app.inject({ url: '/order', headers: html })
  t.match(body, /<input id="order-number" name="order-number" value="" maxlength="64"/)
  t.match(body, /<input id="item.1.quantity"[^>]* inputmode="decimal"[^>]* required=""/)
  t.notMatch(body, 'type="number"', 'no wheel and no locale of a browser changes a quantity')
  t.notMatch(body, /<input id="item[^>]* pattern=/, 'the service says better what is wrong than a browser')
  t.match(body, /<textarea id="note.1" name="note.1" rows="3" maxlength="4000"/)
  t.match(body, /<input id="requested-delivery-date"[^>]* type="date"/)
  t.match(body, /<input id="buyer.address.country"[^>]* autocomplete="country"/)
})

t.test('an order is changed and cancelled by forms, under the preconditions of PUT and DELETE', async (t) => {
  const { app, store } = await build(t)
  const uri = placedUri(
    await post(app, '/order', { ...line, 'extension.1.name': 'cost-centre', 'extension.1': '4711', 'item.1.note.1': 'blue' })
  )
  const edit = await app.inject({ url: `${uri}?form=change`, headers: html })
  t.equal(edit.headers['cache-control'], 'no-store')
  const tag = hidden(edit.body, '_if-match') ?? ''
  t.equal(tag.replaceAll('&quot;', '"'), (await app.inject(uri)).headers['etag'], 'the form carries the tag of the order, whoever reads it')
  for (const [name, value] of [
    ['extension.1.name', 'cost-centre'],
    ['extension.1', '4711']
  ])
    t.equal(hidden(edit.body, name ?? ''), value)
  t.match(edit.body, /<label for="item.1.note.1">Note 1<\/label>\s*<textarea id="item.1.note.1"[^>]*>\s*blue<\/textarea>/)

  const kept = { 'extension.1.name': 'cost-centre', 'extension.1': '4711', 'item.1.note.1': 'blue' }
  t.equal((await post(app, uri, { _method: 'PUT', ...line })).statusCode, 428, 'without a tag')
  const changed = await post(app, uri, { _method: 'PUT', '_if-match': tag, ...line, ...kept, 'item.1.quantity': '5' })
  t.equal(changed.statusCode, 303)
  t.equal(changed.headers['location'], `${uri}#done`)
  const order = await store.order(uri.slice('/order/'.length))
  t.match(order, { version: 2, items: [{ quantity: '5', notes: ['blue'] }], extensions: [{ name: 'cost-centre', value: '4711' }] })

  const stale = await post(app, uri, { _method: 'PUT', '_if-match': tag, ...line, 'item.1.quantity': '6' })
  t.equal(stale.statusCode, 412)
  t.match(stale.body, 'Somebody else changed the order')
  t.match(stale.body, `<a href="${uri}" target="_blank">See the order as it stands</a>`)
  t.equal(hidden(stale.body, 'item.1.quantity'), '6', 'what was typed is still there')
  const forced = { _method: 'PUT', '_if-match': hidden(stale.body, '_if-match') ?? '', ...line, ...kept, 'item.1.quantity': '6' }
  t.equal((await post(app, uri, forced)).statusCode, 303, 'and may be sent again by who has seen it')
  t.equal((await store.order(order.id)).items[0]?.quantity, '6')
  t.equal((await post(app, uri, { _method: 'DELETE', '_if-match': tag })).statusCode, 412)

  const now = String((await app.inject({ url: uri, headers: html })).headers['etag'])
  const wrong = await post(app, uri, { _method: 'PUT', '_if-match': now, ...line, 'item.1.quantity': 'x' })
  t.equal(wrong.statusCode, 422)
  t.equal(hidden(wrong.body, '_if-match'), now)
  t.match(wrong.body, /<p class="wrong" id="item.1.quantity-error">/)

  t.equal((await post(app, uri, { _method: 'DELETE', '_if-match': now })).statusCode, 303)
  t.equal((await store.order(order.id)).status, 'cancelled')
})

t.test('POST to an order is for forms only, and for the methods that there are', async (t) => {
  const { app } = await build(t)
  const uri = placedUri(await post(app, '/order', line))
  const xml = await app.inject({ method: 'POST', url: uri, headers: { 'content-type': 'application/xml' }, payload: '<purchase-order/>' })
  t.equal(xml.statusCode, 415)
  t.equal(xml.headers['accept-post'], 'application/x-www-form-urlencoded')
  const empty = await app.inject({ method: 'POST', url: uri })
  t.match([empty.statusCode, empty.body], [415, 'POST here takes only the form of the page. Programs use PUT or DELETE.'])
  for (const _method of ['', 'PATCH', 'constructor', 'put']) t.equal((await post(app, uri, { _method })).statusCode, 400, _method)
})

t.test('the seller sets status and stock by forms; nobody else can', async (t) => {
  const { app, store, key } = await build(t)
  const seller = { ...html, ...(await key('Seller', 'fulfilment', 'catalogue')) }
  const uri = placedUri(await post(app, '/order', line))
  t.equal((await post(app, `${uri}/status`, { _method: 'PUT', status: 'shipped', '_if-match': '*' })).statusCode, 401)
  const page = await app.inject({ url: `${uri}/status`, headers: seller })
  t.match(page.body, /name="item\.1\.quantity" value="\d+"[\s\S]*<button>Ship</)
  t.notMatch((await app.inject({ url: `${uri}/status`, headers: html })).body, '<form')
  const shipped = await post(
    app,
    `${uri}/status`,
    { _method: 'PUT', status: 'shipped', '_if-match': hidden(page.body, '_if-match') ?? '' },
    seller
  )
  t.equal(shipped.statusCode, 303)
  t.equal(shipped.headers['location'], `${uri}/status#done`)
  const again = await post(app, `${uri}/status`, { _method: 'PUT', status: 'accepted', '_if-match': '*' }, seller)
  t.equal(again.statusCode, 409)
  t.match(again.body, /class="notice problem"/)

  const stock = '/product/ABC-1/stock'
  t.equal((await post(app, stock, { _method: 'PUT', 'on-hand': '5', '_if-match': '*' })).statusCode, 401)
  const shown = await app.inject({ url: stock, headers: seller })
  const tag = hidden(shown.body, '_if-match') ?? ''
  t.not(tag, (await app.inject({ url: stock, headers: html })).headers['etag'], 'the page without the form is another representation')
  const wrong = await post(app, stock, { _method: 'PUT', 'on-hand': 'lots', '_if-match': tag }, seller)
  t.equal(wrong.statusCode, 422)
  t.match(wrong.body, /value="lots"[^>]* aria-invalid="true"/)
  t.equal((await post(app, stock, { _method: 'PUT', 'on-hand': '5', '_if-match': tag }, seller)).statusCode, 303)
  t.equal((await store.stock('ABC-1')).onHand, '5')
  t.equal((await post(app, stock, { _method: 'PUT', 'on-hand': '6', '_if-match': tag }, seller)).statusCode, 412)
})

t.test('a button that ends an order asks first, apart from those for the next status', async (t) => {
  const { app, store, key } = await build(t, { settings: { ACCEPTANCE: 'manual' } })
  const seller = { ...html, ...(await key('Seller', 'fulfilment', 'order')) }
  const uri = placedUri(await post(app, '/order', line))
  const { body } = await app.inject({ url: `${uri}/status`, headers: seller })
  const asking = [...body.matchAll(/<details class="confirm">.*?<\/details>/gs)].map(([details]) => details)
  t.same(
    asking.map((details) => [
      /<summary>(.*?)</.exec(details)?.[1],
      /<button class="danger" form="details" /.test(details),
      hidden(details, 'status')
    ]),
    [
      ['Reject this order…', true, 'rejected'],
      ['Cancel this order…', true, 'cancelled']
    ]
  )
  const rest = asking.reduce((page, details) => page.replace(details, ''), body)
  t.match(rest, '>Accept</button>')
  t.notMatch(rest, /rejected|cancelled/, 'nothing else on the page ends it')
  const fields = ['_method', '_if-match', '_customer'].map((name) => [name, hidden(rest.slice(rest.indexOf('id="details"')), name) ?? ''])
  t.equal((await post(app, `${uri}/status`, { ...Object.fromEntries(fields), status: 'rejected' }, seller)).statusCode, 303)
  t.equal((await store.order(uri.slice('/order/'.length))).status, 'rejected')
})

t.test('a form that a person sends while guests may not order says so', async (t) => {
  const { app, store } = await build(t, { settings: { GUEST_ORDERS: 'off' } })
  t.match((await app.inject({ url: '/order', headers: html })).body, 'You need your company’s key to order')
  const refused = await post(app, '/order', { ...line, 'note.1': 'typed <at> length', '_idempotency-key': 'the-key-of-the-form-k-9' })
  t.equal(refused.statusCode, 401)
  t.match(refused.body, 'in another tab', 'and how to go on')
  t.match(refused.body, 'typed &lt;at&gt; length', 'nothing that was typed is lost')
  t.match(refused.body, 'name="item.1.product-id" value="ABC-1"')
  t.equal(hidden(refused.body, '_idempotency-key'), 'the-key-of-the-form-k-9')
  for (const [fields, status] of [
    [line, 401],
    [{ ...line, _more: '5' }, 401]
  ] as const) {
    t.equal((await post(app, '/order', fields, { accept: 'application/xml' })).statusCode, status)
  }
  t.equal((await store.orders({ limit: 1 })).items.length, 0)
})

t.test('an order form offers products that its lines name, beyond those that every form has', async (t) => {
  const { app, store } = await build(t, { products: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`A-${i}`, {}])) })
  await store.putProduct('Z-LAST', draft({ name: 'The last one' }), {})
  t.match((await app.inject({ url: '/order?product=Z-LAST', headers: html })).body, /<option value="Z-LAST">The last one<\/option>/)
})
