import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Answered } from '../ask.ts'
import { until } from '../until.ts'
import { form, type HostileShop, startHostile } from './shop.ts'

const largestRefusal = 64 * 1024

const xml = { 'content-type': 'application/xml' }
const json = { 'content-type': 'application/json' }

const item = '<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'
const orderOf = (items: number) => `<purchase-order>${item.repeat(items)}</purchase-order>`

async function post(shop: HostileShop, headers: Record<string, string>, body: string): Promise<Answered> {
  return shop.send({ method: 'POST', path: '/order', headers, body })
}

/** JSON of one long member name around members that are all there twice. */
function repeatedMembers(length: number, times: number): string {
  const name = 'a'.repeat(length)
  return `{"${name}":{${Array.from({ length: times }, (_, i) => `"b${i >> 1}":"1"`).join(',')}}}`
}

const ubl = (content: string) => `<Order xmlns="urn:oasis:names:specification:ubl:schema:xsd:Order-2"><ID>1</ID>${content}</Order>`
const card = '<PaymentMeans><CardAccount><PrimaryAccountNumberID>4111111111111111</PrimaryAccountNumberID></CardAccount></PaymentMeans>'
const lineTo = (delivery: string) => `<OrderLine><LineItem><Delivery>${delivery}</Delivery></LineItem></OrderLine>`
const recipient = (name: string) => `<DeliveryParty><PartyName><Name>${name}</Name></PartyName></DeliveryParty>`
const allowance = (amount: string) => `<AllowanceCharge><Amount currencyID="EUR">${amount}</Amount></AllowanceCharge>`

/** Documents with a fault in each of many places, or with many faults in one place. */
const refused: Readonly<Record<string, { readonly headers: Record<string, string>; readonly body: string }>> = {
  'one long name around 10,000 repeated members': { headers: json, body: repeatedMembers(17_000, 20_000) },
  'repeated members at every depth': { headers: json, body: `${'{"a":1,"a":'.repeat(90)}1${'}'.repeat(90)}` },
  '200,000 repeated members': { headers: json, body: `{${Array.from({ length: 200_000 }, () => '"a":1').join(',')}}` },
  '1 MB of unknown members': { headers: json, body: `{${Array.from({ length: 60_000 }, (_, i) => `"unknown${i}":1`).join(',')}}` },
  'one unknown member of 1 MB': { headers: json, body: `{"${'x'.repeat(1_000_000)}":1}` },
  'a form of 100,000 notes': { headers: form, body: Array.from({ length: 100_000 }, (_, i) => `note.${i}=x`).join('&') },
  'a form of 30,000 lines': {
    headers: form,
    body: Array.from({ length: 30_000 }, (_, i) => `item.${i + 1}.product-id=NO-SUCH-${i}`).join('&')
  },
  'the same form, sent by a person': {
    headers: { ...form, accept: 'text/html,*/*;q=0.8' },
    body: Array.from({ length: 30_000 }, (_, i) => `item.${i + 1}.product-id=NO-SUCH-${i}`).join('&')
  },
  'an order of 10,000 lines of unknown products': { headers: xml, body: orderOf(10_000).replaceAll('ABC-1', 'NO-SUCH') },
  'an order of 20,000 lines with a fault each': { headers: xml, body: orderOf(20_000).replaceAll('<quantity>1<', '<quantity>-1<') },
  'misplaced elements all over': {
    headers: xml,
    body: `<purchase-order>${'<item><quantity>1</quantity><product-id>A</product-id></item>'.repeat(20_000)}</purchase-order>`
  },
  'many attributes': { headers: xml, body: `<purchase-order>${'<item a="1" b="2" c="3" d="4"/>'.repeat(30_000)}</purchase-order>` },
  'a text of 1 MB in one element': {
    headers: xml,
    body: `<purchase-order><note>${'x'.repeat(60_000)}</note>${`<note>${'&amp;'.repeat(10_000)}</note>`.repeat(20)}${item}</purchase-order>`
  }
}

/** Documents of buyers that once took time in the square of their size, or filled the memory of the process. */
const refusedOfBuyers: Readonly<Record<string, string>> = {
  'amounts of 65,000 zeros': ubl(allowance(`${'0'.repeat(65_000)}x`).repeat(20)),
  'an amount of 32,000 zeros in a small document': ubl(allowance(`${'0'.repeat(32_000)}x`)),
  'an address of 300 KB that 4,000 lines do not have': ubl(
    `<Delivery><DeliveryAddress>${`<AddressLine><Line>${'x'.repeat(30_000)}</Line></AddressLine>`.repeat(10)}</DeliveryAddress></Delivery>${lineTo(
      '<DeliveryAddress><CityName>x</CityName></DeliveryAddress>'
    ).repeat(4_000)}`
  ),
  'an address of 10,000 combining marks in a small document': ubl(
    `<Delivery><DeliveryLocation><Address><StreetName>${'\u0344'.repeat(5_000)}${'\u0f73'.repeat(5_000)}</StreetName></Address></DeliveryLocation></Delivery>`
  ),
  'an address of 20,000 lines': ubl(
    `<Delivery><DeliveryAddress>${'<AddressLine><Line>x</Line></AddressLine>'.repeat(20_000)}</DeliveryAddress></Delivery>${lineTo(
      '<DeliveryAddress><CityName>x</CityName></DeliveryAddress>'
    ).repeat(4_000)}`
  ),
  'a recipient of 65 KB that 4,000 lines do not have': ubl(
    `<Delivery>${recipient('a '.repeat(32_500))}</Delivery>${lineTo(recipient('x')).repeat(4_000)}`
  ),
  'processing instructions that look like comments': ubl(`<?TestInstance ${'<!--'.repeat(16_000)}?>`.repeat(5)),
  'a card number and 140,000 elements': ubl(
    `${card}${`<OrderLine><LineItem>${'<Note/>'.repeat(8)}</LineItem></OrderLine>`.repeat(14_000)}`
  ),
  'a card number and 140,000 elements in one': ubl(`${card}<Note>${'<b/>'.repeat(140_000)}</Note>`)
}

t.test('a document that is made to cost much is refused, in 64 KiB at most, and costs nobody else', async (t) => {
  // With a rate limit, most of these documents would be refused because there are so many.
  const shop = await startHostile(t, { RATE_LIMIT: 'off' })
  for (const [name, { headers, body }] of Object.entries(refused)) {
    await t.test(name, async (t) => {
      await shop.survives(t, async () => {
        for (const accept of [headers['accept'], 'application/json', 'text/html']) {
          const { status, size } = await post(shop, accept === undefined ? headers : { ...headers, accept }, body)
          t.ok(status >= 400 && status < 500, `refused with ${status}`)
          t.ok(size <= largestRefusal, `${size} bytes`)
        }
      })
    })
  }
})

t.test("a buyer's document that is made to cost much is refused, and ends no process", async (t) => {
  const shop = await startHostile(t, { RATE_LIMIT: 'off' })
  await shop.survives(t, async () => {
    for (const [name, body] of Object.entries(refusedOfBuyers)) {
      const { status, size, body: refusal } = await post(shop, xml, body)
      t.ok(status >= 400 && status < 500 && size <= largestRefusal, `${name}: ${status}, ${size} bytes`)
      t.notMatch(refusal, 'document-too-costly', name)
    }
  })
  await shop.recovers(t)
})

t.test('two clients that post orders of 10,000 lines hold nobody up', async (t) => {
  const shop = await startHostile(t)
  const body = orderOf(10_000).replaceAll('ABC-1', 'FX-ROD-M10-1000')
  await shop.survives(t, async () => {
    const client = async () => {
      for (let i = 0; i < 5; i++) t.match((await post(shop, xml, body)).status, /^(201|409)$/)
    }
    await Promise.all([client(), client()])
  })
})

t.test('a hundred large orders of a guest at once fill neither the memory nor the queue of the others', async (t) => {
  const shop = await startHostile(t)
  const body = `<purchase-order>${`<note>${'x'.repeat(3_900)}</note>`.repeat(90)}${item.repeat(9_000)}${' '.repeat(60_000)}</purchase-order>`
  await shop.survives(t, async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => post(shop, xml, body).catch((error: Error) => error)))
    const statuses = answers.map((answer) => ('status' in answer ? answer.status : answer.message))
    t.ok(
      statuses.every((status) => [201, 409, 429, 503].includes(Number(status))),
      [...new Set(statuses)].join(', ')
    )
  })
})

t.test('whoever sends large documents slowly, from many addresses, keeps no room from the documents of others', async (t) => {
  const shop = await startHostile(t)
  const head = 'POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/xml\r\nContent-Length: 1000000\r\n\r\n<purchase-order>'
  const body = orderOf(10_000)
  /** It waits, because what is refused is charged. */
  async function isRead(): Promise<boolean> {
    await sleep(500)
    const { status } = await shop.send({ method: 'POST', path: '/order', headers: xml, body }, '127.0.9.1')
    return status === 201 || status === 409
  }
  const isSending = new AbortController()
  /** Senders without room: those who were refused, and those who were cut off for others. */
  let without = 0
  await shop.survives(t, async () => {
    // 14 for each of 6 addresses, which may have room for 12. For all of these there is not enough.
    const senders = Array.from({ length: 84 }, async (_, i) => {
      const socket = await shop.open(`127.0.20.${1 + (i % 6)}`)
      socket.resume().once('data', () => without++)
      socket.once('close', () => without++)
      socket.write(head)
      while (!isSending.signal.aborted && socket.writable) {
        socket.write(' ')
        await sleep(1_000)
      }
    })
    await until(() => without > 12, 'all the room is taken')
    await until(isRead, 'there is room for an order')
    isSending.abort()
    shop.leave()
    await Promise.all(senders)
  })
})

t.test('a client that sends large documents and goes away leaves nothing behind', async (t) => {
  const shop = await startHostile(t)
  const body = orderOf(10_000)
  const head = `POST /order HTTP/1.1\r\nHost: x\r\nContent-Type: application/xml\r\nContent-Length: ${body.length}\r\n\r\n`
  await shop.survives(t, async () => {
    for (let round = 0; round < 100; round++) {
      const socket = await shop.open()
      socket.write(head)
      socket.write(body)
      await sleep(5)
      socket.resetAndDestroy()
    }
  })
  t.equal((await post(shop, xml, orderOf(1))).status < 500, true)
})
