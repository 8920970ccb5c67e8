import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { build, type Shop } from '../build.ts'
import { cxmlAnswer, cxmlLine, cxmlOrder, products, secretOf, send, ublAnswer, ublLine, ublOrder } from './buyer-fixtures.ts'

const card = '4111111111111111'

/** A log that can be read: what would be on standard output. */
function memory() {
  const lines: string[] = []
  return { lines, write: (line: string) => void lines.push(line) }
}

async function watched(t: Test) {
  const log = memory()
  const shop = await build(t, { products, logTo: log, settings: { LOG_LEVEL: 'trace' } })
  const answers: string[] = []
  return {
    shop,
    log,
    answers,
    async post(payload: string, headers: Record<string, string> = {}) {
      const response = await send(shop, payload, headers)
      answers.push(JSON.stringify(response.headers), response.body)
      return response
    },
    async get(url: string, headers: Record<string, string> = {}) {
      const response = await shop.app.inject({ url, headers })
      answers.push(JSON.stringify(response.headers), response.body)
      return response
    }
  }
}

/** The bytes of the database's files, the write-ahead log too. Empty on PostgreSQL. */
function databaseBytes({ config }: Shop): string {
  const path = /^sqlite:(.*)$/.exec(config.DATABASE_URL)?.[1]
  if (path === undefined) return ''
  return readdirSync(dirname(path))
    .map((name) => readFileSync(`${dirname(path)}/${name}`, 'latin1'))
    .join('')
}

t.test('no shared secret or card number is in the database, the log or any response, wherever a cXML document repeats it', async (t) => {
  const { shop, log, answers, post, get } = await watched(t)
  const key = await shop.key('acme', 'order')
  const secret = secretOf(key)
  const repeated = `<Comments>our secret is ${secret}, card 4111 1111 1111 1111</Comments><Extrinsic name="${secret}">${card}</Extrinsic>
<Payment><PCard number="${card}" expiration="2030-01-01"/></Payment><Contact role="buyer"><Name xml:lang="en">${secret}</Name></Contact><!-- ${secret} ${card} -->`
  const doctype = `<!DOCTYPE cXML SYSTEM "http://x/${secret}.dtd">`
  const placed = await post(cxmlOrder({ secret, header: repeated, payloadId: `${secret}@b`, doctype }))
  t.same(cxmlAnswer(placed)[0], '200', placed.body)
  const url = String(placed.headers['location'])
  for (const accept of ['application/xml', 'application/json', 'text/html']) await get(url, { ...key, accept })
  const document = await get(`${url}/document`, key)
  t.match(document.body, `<SharedSecret>${'*'.repeat(secret.length)}</SharedSecret>`)
  t.match(document.body, `<PCard number="${'*'.repeat(16)}" expiration`)
  t.equal(document.body.length, cxmlOrder({ secret, header: repeated, payloadId: `${secret}@b`, doctype }).length)
  await get(`${url}/response`, key)
  for (const wrong of [
    { lines: [cxmlLine({ product: secret })] },
    { lines: [cxmlLine({ quantity: secret })] },
    { lines: [cxmlLine({ number: secret, price: '1' })] },
    { lines: [cxmlLine({ number: secret, price: card })] },
    { attributes: ` orderType="${secret}" type="${secret}"` },
    { number: secret, attributes: ' type="delete"' },
    { request: ` deploymentMode="${secret}"` }
  ]) {
    t.not(cxmlAnswer(await post(cxmlOrder({ secret, header: repeated, payloadId: 'p', ...wrong })))[0], '200', JSON.stringify(wrong))
    await post(cxmlOrder({ secret, header: repeated, payloadId: 'p', ...wrong }), { accept: 'application/json' })
  }
  const unknown = 'tp_this_is_not_known_here'
  t.equal(cxmlAnswer(await post(cxmlOrder({ secret: unknown })))[0], '401')
  for (const part of [secret, card, '4111 1111 1111 1111', unknown]) {
    t.notOk(databaseBytes(shop).includes(part), `${part} in the database`)
    t.notOk(log.lines.join('').includes(part), `${part} in the log`)
    t.notOk(answers.join('').includes(part), `${part} in an answer`)
  }
})

t.test('a secret in markup that a text quotes is masked there, in the original and in the order', async (t) => {
  const { shop, log, answers, post, get } = await watched(t)
  const key = await shop.key('acme', 'order')
  const quoted = [
    '&lt;SharedSecret&gt;escaped-once&lt;/SharedSecret&gt;, sent twice',
    '&amp;lt;x:DigitalSignature a="b"&amp;gt;escaped-twice&amp;lt;/x:DigitalSignature&amp;gt;',
    '&#60;CV2ID&#x3E;escaped-code&#60;/CV2ID&#x3E;',
    `&lt;PCard expiration=&quot;2030&quot; number=&quot;${card}&quot;/&gt;`,
    '<![CDATA[<SharedSecret>escaped-cdata</SharedSecret>]]>',
    '&lt;SharedSecret&gt;escaped-cut'
  ]
  for (const payload of [
    ...quoted.map((text, i) => cxmlOrder({ number: `C-${i}`, payloadId: `p${i}`, header: `<Comments>see ${text}</Comments>` })),
    ...quoted.map((text, i) => ublOrder({ number: `U-${i}`, header: `<cbc:Note>see ${text}</cbc:Note>` }))
  ]) {
    const placed = await post(payload, key)
    const url = String(placed.headers['location'])
    const order = await get(url, { ...key, accept: 'application/json' })
    t.match(JSON.parse(order.body).note, [/^see .*\*\*\*/s], payload)
    const document = await get(`${url}/document`, key)
    t.equal(document.body.length, payload.length)
    t.equal(document.body.replaceAll('*', ''), payload.replace(/escaped-\w+|4111111111111111/g, ''))
  }
  for (const part of ['escaped-', card]) {
    t.notOk(databaseBytes(shop).includes(part), `${part} in the database`)
    t.notOk([...log.lines, ...answers].join('').includes(part), `${part} in the log or an answer`)
  }
})

t.test('a secret in cXML that is not well-formed is not quoted', async (t) => {
  const { shop, log, answers, post } = await watched(t)
  for (const secret of ['pass&hidden1word', 'pass&hidden1word;', 'pass<hidden1word', 'pass]]>hidden1word', '&#xhidden1word;']) {
    t.equal(cxmlAnswer(await post(cxmlOrder({ secret })))[0], '406', secret)
  }
  t.notMatch(answers.join(''), 'hidden1word')
  t.notMatch(log.lines.join(''), 'hidden1word')
  t.notMatch(databaseBytes(shop), 'hidden1word')
})

t.test('the number and the code of a card in UBL are masked, and the number wherever it is repeated', async (t) => {
  const { shop, log, answers, post, get } = await watched(t)
  const key = await shop.key('acme', 'order')
  const header = `<cbc:Note>card ${card}</cbc:Note><cbc:CustomerReference>${card}</cbc:CustomerReference>
<cac:PaymentMeans><cac:CardAccount><cbc:PrimaryAccountNumberID>4111 1111 1111 1111</cbc:PrimaryAccountNumberID><cbc:CV2ID>987</cbc:CV2ID></cac:CardAccount></cac:PaymentMeans>`
  const payload = ublOrder({ header, lines: [ublLine({ more: `<cbc:Note>${card}</cbc:Note>` })] })
  const placed = await post(payload, key)
  t.same([placed.statusCode, ublAnswer(placed).code], [201, 'AP'], placed.body)
  const url = String(placed.headers['location'])
  for (const accept of ['application/xml', 'application/json', 'text/html']) await get(url, { ...key, accept })
  const document = await get(`${url}/document`, key)
  t.equal(document.body.length, payload.length)
  t.match(document.body, '<cbc:CV2ID>***</cbc:CV2ID>')
  t.match(document.body, `<cbc:Note>card ${'*'.repeat(16)}</cbc:Note>`)
  await get(`${url}/response`, key)
  await post(payload.replace('BOLT-8', card), key)
  for (const part of [card, '4111 1111 1111 1111']) {
    t.notOk(databaseBytes(shop).includes(part), `${part} in the database`)
    t.notOk(log.lines.join('').includes(part), `${part} in the log`)
    t.notOk(answers.join('').includes(part), `${part} in an answer`)
  }
  const many = Array.from({ length: 9 }, (_, i) => `<cbc:PrimaryAccountNumberID>41111111111111${10 + i}</cbc:PrimaryAccountNumberID>`)
  t.match(ublAnswer(await post(ublOrder({ number: 'PO-8', header: `<cac:PaymentMeans>${many.join('')}</cac:PaymentMeans>` }), key)), {
    code: 'RE'
  })
})
