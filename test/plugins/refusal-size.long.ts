import t from 'tap'
import { mostBytes } from '../../http/problem-size.ts'
import { readJsonText } from '../../schemas/json-text.ts'
import { build, xml } from '../build.ts'

const json = { 'content-type': 'application/json' }
const accepted = ['application/xml', 'application/json', 'text/html']
const long = 'n'.repeat(7_000)
const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'

const documents: Readonly<Record<string, { readonly headers: object; readonly body: string }>> = {
  'unknown members with long names': {
    headers: json,
    body: JSON.stringify(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`${long}${i}`, ''])))
  },
  'members that are repeated, below a long name': {
    headers: json,
    body: `{"${'n'.repeat(17_000)}":{${Array.from({ length: 20_000 }, (_, i) => `"a${i >> 1}":1`).join(',')}}}`
  },
  'unknown elements with long names': {
    headers: xml,
    body: `<purchase-order>${Array.from({ length: 150 }, (_, i) => `<${long}${i}/>`).join('')}${item}</purchase-order>`
  },
  'unknown attributes with long names': {
    headers: xml,
    body: `<purchase-order>${item.replaceAll('<quantity', `<quantity ${long}="1"`).repeat(150)}</purchase-order>`
  },
  'values that are escaped': {
    headers: xml,
    body: `<purchase-order>${item.replace('ABC-1', '&lt;&amp;&quot;'.repeat(500)).repeat(150)}</purchase-order>`
  },
  '10,000 unknown products': {
    headers: xml,
    body: `<purchase-order>${item.replace('ABC-1', 'NONE').repeat(10_000)}</purchase-order>`
  },
  'a name in the URI': { headers: { ...xml }, body: '<nothing/>' }
}

t.test('the answer to a refused document is 64 KiB at most, in every media type', async (t) => {
  const { app } = await build(t)
  for (const [title, { headers, body }] of Object.entries(documents)) {
    for (const accept of accepted) {
      const url = title === 'a name in the URI' ? `/order?${'&'.repeat(15_000)}` : '/order'
      const response = await app.inject({ method: 'POST', url, headers: { ...headers, accept }, payload: body })
      t.match(response.statusCode, /^4\d\d$/, `${title}: ${response.body.slice(0, 200)}`)
      t.ok(response.rawPayload.length <= mostBytes, `${title} as ${accept}: ${response.rawPayload.length} bytes`)
    }
  }
})

t.test('names and values are cut where a problem quotes them', async (t) => {
  const { app } = await build(t)
  for (const [title, { headers, body }] of Object.entries(documents).filter(([title]) => / long name/.test(title))) {
    const response = await app.inject({ method: 'POST', url: '/order', headers: { ...headers, accept: 'application/json' }, payload: body })
    const { errors } = response.json<{ errors: { detail: string; path?: string }[] }>()
    t.ok(errors.length > 0, title)
    t.same(
      errors.filter(({ detail, path = '' }) => detail.length > 1_000 || path.length > 1_000),
      [],
      title
    )
  }
})

t.test('the problem of an order with more faults than it lists says how many there are', async (t) => {
  const { app } = await build(t)
  const body = `<purchase-order>${item.replace('ABC-1', 'NONE').repeat(250)}</purchase-order>`
  const response = await app.inject({ method: 'POST', url: '/order', headers: { ...xml, accept: 'application/json' }, payload: body })
  t.equal(response.statusCode, 422)
  const { detail, errors } = response.json<{ detail: string; errors: { path: string }[] }>()
  t.match(detail, /250 errors, of which the first 100 are listed/)
  t.equal(errors.length, 100)
  t.equal(errors[99]?.path, '/purchase-order/item[100]/product-id')
})

t.test('repeated members are listed up to a hundred, and no pointer is built for the others', (t) => {
  const name = 'n'.repeat(17_000)
  const members = Array.from({ length: 20_000 }, (_, i) => `"a${i >> 1}":1`).join(',')
  const { repeated } = readJsonText(`{"${name}":{${members}}}`)
  t.ok(repeated.length <= 100)
  t.ok(repeated.every((place) => place.length <= 256))
  t.same(readJsonText('{"a":{"b":1,"b":2,"c":[{"d":1,"d":2}]}}').repeated, ['/a/b', '/a/c/0/d'])
  t.end()
})
