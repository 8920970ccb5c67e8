import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { ResponseHead } from '../../http/response-head.ts'

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const values = { 'x-request-id': 'second', ratelimit: '"default";r=8;t=60' }

/** Answers two requests of one connection, and returns all bytes that the client got. */
async function answers(t: Test, answer: (response: ServerResponse, number: number) => void): Promise<string> {
  let number = 0
  const server = createServer((_request, response) => answer(response, ++number))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.end(get + last)
  return text(client)
}

function first(response: ServerResponse): void {
  response.writeHead(200, [
    'content-type',
    'text/plain',
    'X-Request-Id',
    'first',
    'ratelimit',
    '"default";r=9;t=60',
    'Link',
    '</>; rel="x: y"',
    'Link',
    '</b>',
    'content-length',
    '2'
  ])
  response.end('ok')
}

t.test('a header section is written again as Node wrote it, except for the fields that change', async (t) => {
  let written = ''
  let fields: string[] = []
  const sent = await answers(t, (response, number) => {
    first(response)
    if (number > 1) return
    const head = ResponseHead.of(response)
    written = head?.write(values) ?? ''
    fields = head?.fields(values) ?? []
  })
  const [section = ''] = sent.split('ok')
  const withoutDate = (head: string) => head.replace(/\r\nDate: [^\r]*/, '')
  t.equal(withoutDate(written), withoutDate(section).replace('X-Request-Id: first', 'X-Request-Id: second').replace('r=9', 'r=8'))
  t.match(section, /\r\nConnection: keep-alive\r\n/)
  const [date = ''] = /(?<=\r\nDate: )[^\r]*/.exec(written) ?? []
  t.equal(new Date(date).toUTCString(), date)
  t.ok(Math.abs(Date.parse(date) - Date.now()) < 60_000)
  t.same(fields.slice(0, 6), ['content-type', 'text/plain', 'X-Request-Id', 'second', 'ratelimit', '"default";r=8;t=60'])
  t.notOk(fields.some((field) => /^(date|connection|keep-alive)$/i.test(field)))
})

t.test('a section without fields that change is written as it is', async (t) => {
  let written = ''
  const sent = await answers(t, (response, number) => {
    response.sendDate = false
    response.writeHead(304, ['etag', '"x"'])
    response.end()
    if (number === 1) written = ResponseHead.of(response)?.write(values) ?? ''
  })
  t.ok(written !== '' && sent.startsWith(written))
})

for (const [name, headers] of [
  ['ends its connection', { connection: 'close', 'content-length': '0' }],
  ['sets a cookie', { 'set-cookie': 'a=b', 'content-length': '0' }],
  ['has a body in chunks', {}]
] as const) {
  t.test(`a response that ${name} is not sent again`, async (t) => {
    const heads: (ResponseHead | undefined)[] = []
    await answers(t, (response) => {
      heads.push(ResponseHead.of(response))
      response.writeHead(200, headers)
      heads.push(ResponseHead.of(response))
      response.write(headers['content-length' as never] === undefined ? 'x' : '')
      response.end()
    })
    t.same(new Set(heads), new Set([undefined]))
  })
}
