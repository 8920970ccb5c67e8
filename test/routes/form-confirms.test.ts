/** What a browser gets after a form that changes something: the page of what was changed, which says that it was saved. */

import t from 'tap'
import { build } from '../build.ts'
import { hidden, html, line, placedUri, post } from './form-post.ts'

t.test('a form leads to the notice of its page that it was saved; a refused form, and one that places an order, does not', async (t) => {
  const { app, key } = await build(t)
  const seller = { ...html, ...(await key('Seller', 'fulfilment', 'catalogue')) }
  const uri = placedUri(await post(app, '/order', line))
  t.match(uri, /^\/order\/[0-9a-f-]{36}$/, 'the address to keep is that of the order')
  for (const [form, headers, url, fields, result] of [
    [`${uri}?form=change`, html, uri, { _method: 'PUT', ...line, 'item.1.quantity': '5' }, uri],
    [`${uri}/status`, seller, `${uri}/status`, { _method: 'PUT', status: 'accepted', note: 'Soon' }, `${uri}/status`],
    [`${uri}/status`, seller, `${uri}/shipments`, { _lines: 'given', 'item.1.quantity': '1' }, `${uri}/shipment/1`],
    [uri, html, uri, { _method: 'DELETE' }, uri],
    ['/product/ABC-1/stock', seller, '/product/ABC-1/stock', { _method: 'PUT', 'on-hand': '7' }, '/product/ABC-1/stock']
  ] as const) {
    const tag = hidden((await app.inject({ url: form, headers })).body, '_if-match') ?? ''
    const about = `${url} ${JSON.stringify(fields)}`
    const refused = await post(app, url, { ...fields, '_if-match': '"old"', _customer: 'Nobody' }, headers)
    t.ok(refused.statusCode >= 400, about)
    t.notMatch(refused.headers['location'], '#done', about)
    const saved = await post(app, url, { ...fields, '_if-match': tag }, headers)
    t.match([saved.statusCode, saved.headers['location']], [303, `${result}#done`], about)
    const shown = await app.inject({ url: result, headers })
    t.match(shown.body, /<p id="done" class="notice done screen" role="status" tabindex="-1" hidden>Saved\. [^<]+<\/p>/, about)
    t.equal(shown.body.match(/id="done"/g)?.length, 1)
  }
})

t.test('a program that puts a document is answered as without pages', async (t) => {
  const { app, key } = await build(t)
  const headers = { ...(await key('Seller', 'catalogue')), ...html, 'content-type': 'application/xml', 'if-match': '*' }
  const payload = '<stock><on-hand>7</on-hand></stock>'
  const saved = await app.inject({ method: 'PUT', url: '/product/ABC-1/stock', headers, payload })
  t.equal(saved.statusCode, 200)
  t.notMatch(JSON.stringify(saved.headers), '#done')
})
