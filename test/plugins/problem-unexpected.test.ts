import t from 'tap'
import { build } from '../build.ts'

const secret = 'SELECT secret FROM /srv/shop.db'

t.test('an unexpected error is 500, and its cause is in the log and not in the response', async (t) => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  const { app } = await build(t, { logTo })
  const thrown: readonly unknown[] = [
    new Error(secret),
    new TypeError(secret),
    Object.assign(new Error(secret), { code: 'SQLITE_CORRUPT' }),
    Object.assign(new Error(secret), { statusCode: 200 }),
    Object.assign(new Error(secret), { statusCode: 600 }),
    secret,
    { message: secret }
  ]
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['x-throw']) throw thrown[Number(headers['x-throw']) - 1]
  })
  for (let i = 1; i <= thrown.length; i++) {
    for (const accept of ['application/xml', 'application/json', 'text/html']) {
      const response = await app.inject({ url: '/order', headers: { 'x-throw': String(i), accept } })
      t.equal(response.statusCode, 500)
      t.match(response.body, /Something went wrong here/)
      t.notMatch(response.body, /secret|SQLITE|\.[jt]s:\d|node_modules/)
    }
  }
  t.ok(lines.some((line) => line.includes(secret)))
})

t.test('a problem names the request that it is about, and repeats nothing dangerous of it', async (t) => {
  const { app } = await build(t)
  const url = '/none?a=%3Cscript%3E&b=%22%27'
  const html = await app.inject({ url, headers: { accept: 'text/html' } })
  t.equal(html.statusCode, 404)
  t.notMatch(html.body, /<script>/)
  const type = await app.inject({
    method: 'POST',
    url: '/order',
    headers: { 'content-type': '<script>"&', accept: 'text/html' },
    payload: 'a'
  })
  t.equal(type.statusCode, 415)
  t.notMatch(type.body, /<script>"/)
  const inXml = await app.inject({
    method: 'POST',
    url: '/order',
    headers: { 'content-type': '<a>&', accept: 'application/xml' },
    payload: 'a'
  })
  t.match(inXml.body, /&lt;a&gt;&amp;/)
})
