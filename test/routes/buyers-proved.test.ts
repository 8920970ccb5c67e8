import t from 'tap'
import { build } from '../build.ts'
import {
  cxmlAnswer,
  cxmlEnvelope,
  cxmlLine,
  cxmlOrder,
  products,
  send,
  ublAnswer,
  ublCancellation,
  ublChange,
  ublLine,
  ublOrder
} from './buyer-fixtures.ts'

t.test('cXML with a wrong key in Authorization is refused in cXML, and other XML by HTTP', async (t) => {
  const shop = await build(t, { products })
  const seller = await shop.key('ERP', 'fulfilment')
  for (const authorization of ['Bearer tp_wrong', 'Basic bm86bm8=']) {
    const refused = await send(shop, cxmlOrder(), { authorization })
    t.match([refused.statusCode, ...cxmlAnswer(refused)], [200, '401', /not valid/])
    const ubl = await send(shop, ublOrder(), { authorization })
    t.match([ubl.statusCode, ubl.headers['content-type']], [401, /problem/])
  }
  t.equal((await send(shop, cxmlOrder(), { authorization: 'Bearer tp_wrong', expect: '100-continue' })).statusCode, 401, 'who asks first')
  t.match(cxmlAnswer(await send(shop, cxmlOrder(), seller)), ['403', /scope order/])
  t.equal((await send(shop, ublOrder(), seller)).statusCode, 403)
  t.equal((await shop.store.orders({ limit: 1 })).items.length, 0)
})

t.test('a secret in a comment or in a foreign element is masked in what is stored', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const secret = 'tp_hidden_in_here'
  const foreign = (content: string) => `<x:Any xmlns:x="urn:x">${content}</x:Any>`
  for (const [i, [before, hidden, after]] of (
    [
      ['<!-- <SharedSecret>', secret, '</SharedSecret> -->'],
      ['<!-- <x:SharedSecret a=">">', secret, '</x:SharedSecret> -->'],
      ['<!-- <SharedSecret>', `${secret} `, '--><!-- </SharedSecret> -->'],
      ['<!-- <PCard name="x" number="', secret, '"/> -->'],
      ['<?app <CredentialMac>', secret, '?>'],
      [foreign('|').split('|')[0], `<![CDATA[<SharedSecret>|${secret}|</SharedSecret>]]>`, foreign('|').split('|')[1]],
      [foreign('<SharedSecret>|').split('|')[0], `<![CDATA[</a>${secret}</SharedSecret>]]>`, '</SharedSecret></x:Any>'],
      [foreign('<x:SharedSecret>|').split('|')[0], `<a>1</a>${secret}<!-- </x:SharedSecret> -->`, '</x:SharedSecret></x:Any>']
    ] as const
  ).entries()) {
    const [head = '', middle = hidden, tail = ''] = hidden.includes('|') ? hidden.split('|') : []
    const [start, end] = [`${before}${head}`, `${tail}${after}`]
    for (const make of [
      (content: string) =>
        cxmlOrder({ number: `C-${i}` }).replace(
          '<Header>',
          `${content.startsWith('<x') ? '' : content}<Header>${content.startsWith('<x') ? content : ''}`
        ),
      (content: string) => ublOrder({ number: `U-${i}`, first: content })
    ]) {
      const placed = await send(shop, make(`${start}${middle}${end}`), key)
      const { body } = await shop.app.inject({ url: `${placed.headers['location']}/document`, headers: key })
      t.equal(body, make(`${start}${'*'.repeat(middle.length)}${end}`), `${start}${middle}${end}`)
    }
  }
})

t.test('a document full of starts of secrets is not searched again for each', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  for (const [i, starts] of [
    '<!--<SharedSecret>-->',
    '<!--<SharedSecret -->',
    '<!--<PCard number="-->',
    "<!--<a:SharedSecret a=''-->"
  ].entries()) {
    const payload = cxmlOrder({ number: String(i) }).replace('<Header>', `${starts.repeat(2_000_000 / starts.length)}<Header>`)
    t.match(cxmlAnswer(await send(shop, payload, key)), ['200', /is placed/], 'within the budget of a document')
  }
})

t.test('comments and extrinsics with markup in them are read whole', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const rest = '<Comments>Hi <b>there</b> you</Comments>'
  const line = cxmlLine({ rest, detail: '<Extrinsic name="mx">p <q>nest</q> r</Extrinsic>' })
  const placed = await send(shop, cxmlOrder({ lines: [line] }), key)
  const { items } = await shop.store.order(String(placed.headers['location']).split('/').at(-1) ?? '')
  t.same(items[0]?.notes, ['Hi there you'])
  t.equal(items[0]?.extensions?.find(({ name }) => name === 'mx')?.value, 'p nest r')
})

t.test('the answer to a change and to a cancellation has the parties and references of the order', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const header =
    '<cbc:CustomerReference>REF9</cbc:CustomerReference><cac:SellerSupplierParty><cac:Party><cac:PartyLegalEntity><cbc:RegistrationName>Sell Legal</cbc:RegistrationName></cac:PartyLegalEntity></cac:Party></cac:SellerSupplierParty>'
  await send(shop, ublOrder({ header }), key)
  for (const payload of [ublChange({ lines: [ublLine({ status: '3', quantity: '3' })] }), ublCancellation()]) {
    const answer = await send(shop, payload, key)
    t.equal(answer.statusCode, 200)
    t.match(answer.body, '<cbc:CustomerReference>REF9</cbc:CustomerReference>')
    t.match(answer.body, 'Sell Legal')
  }
})

t.test('the number of a cancelled order places no second one, whatever the bytes', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  await send(shop, ublOrder(), key)
  await send(shop, ublCancellation(), key)
  for (const payload of [ublOrder(), `${ublOrder()}\n`, ublOrder({ lines: [ublLine({ quantity: '9' })] })]) {
    const refused = await send(shop, payload, key)
    t.equal(refused.statusCode, 409)
    t.match(ublAnswer(refused).notes[0], /^line \d+, \/Order\/cbc:ID: .*cancelled/)
  }
  t.match(cxmlAnswer(await send(shop, cxmlOrder({ number: 'PO-7' }), key)), ['409', /cancelled/])
  t.equal((await send(shop, ublOrder({ number: 'PO-8' }), key)).statusCode, 201)
})

t.test('a version that is no number is refused and locks nothing', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  await send(shop, ublOrder(), key)
  const change = (sequence: string, quantity: string) =>
    send(shop, ublChange({ sequence, lines: [ublLine({ status: '3', quantity })] }), key)
  t.equal((await change('4', '3')).statusCode, 200)
  const refused = await change('abc', '4')
  t.match([refused.statusCode, ublAnswer(refused).notes[0]], [422, /cbc:SequenceNumberID: The version "abc" is not a number/])
  const outdated = await change('4', '5')
  t.match([outdated.statusCode, ublAnswer(outdated).notes[0]], [409, /cbc:SequenceNumberID/])
  t.equal((await change('10', '6')).statusCode, 200)
})

t.test('a fault of the whole order is listed at its number', async (t) => {
  const shop = await build(t, { products })
  const key = await shop.key('acme', 'order')
  const placed = await send(shop, ublOrder(), key)
  await shop.store.setOrderStatus(String(placed.headers['location']).split('/').at(-1) ?? '', 'shipped', {})
  const refused = await send(shop, ublCancellation(), key)
  t.match([refused.statusCode, ublAnswer(refused).notes[0]], [409, /^line \d+, \/OrderCancellation\/cac:OrderReference\/cbc:ID: .*shipped/])
  t.match(cxmlAnswer(await send(shop, cxmlEnvelope(''), key)), ['400', /no Request/])
  t.match(cxmlAnswer(await send(shop, cxmlEnvelope('<Request/>'), key)), ['400', /^line 9, \/cXML\/Request: The Request is empty/])
})
