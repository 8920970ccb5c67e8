import fc from 'fast-check'
import t from 'tap'
import { hiddenSecrets } from '../../../dialects/hidden-secrets.ts'
import { makeNeedle, mask, merge } from '../../../dialects/occurrences.ts'
import { processorTime } from '../../growth.ts'
import { envelope, line, order, plain, read } from './documents.ts'

const key = 'tp_0123456789abcdef'
const card = '4111111111111111'

/** The texts in the ranges of a document. */
const hidden = (xml: string) => {
  const source = xml.replace(/<!DOCTYPE[^>]*>/, (doctype) => ' '.repeat(doctype.length))
  return read(xml).secrets.map(({ from, to }) => source.slice(from, to))
}

t.test('the content of secret elements and the numbers of cards are secrets, wherever they are', async (t) => {
  const secret = `<SharedSecret>${key}</SharedSecret>`
  t.same(hidden(order({ secret })), [key])
  t.same(hidden(order({ secret: `<SharedSecret a="/>" >\n a<![CDATA[</SharedSecret>]]>&#98;<x>c</x></SharedSecret\n>` })), [
    '\n a<![CDATA[</SharedSecret>]]>&#98;<x>c</x>'
  ])
  t.same(hidden(order({ secret: '<SharedSecret/>' })), [])
  t.same(hidden(order({ secret: '<SharedSecret></SharedSecret>' })), [])
  t.same(hidden(order({ secret: '<DigitalSignature>MIIC<a>SharedSecret</a></DigitalSignature>' })), ['MIIC<a>SharedSecret</a>'])
  t.same(hidden(order({ secret: '<CredentialMac type="a">Mac</CredentialMac>' })), ['Mac'])
  t.same(hidden(`\ufeff${envelope('<Message><Any><x:sharedsecret xmlns:x="u">deep</x:sharedsecret></Any></Message>', '')}`), ['deep'])
  const payment = (attributes: string) => order({ secret: '', header: `<Payment><PCard ${attributes}/></Payment>` })
  t.same(hidden(payment(`number="${card}" expiration="2030-01-01"`)), [card])
  t.same(hidden(payment(`name=' number="12" ' number\n=\n'${card}'`)), [card])
  t.same(hidden(payment('number=""')), [])
  t.same(hidden(payment('number="41&#49;1"')), ['41&#49;1'])
})

t.test('a secret that the document repeats is hidden there too', async (t) => {
  const header = `<Payment><PCard number="${card}"/></Payment><Comments>${key}, 4111-1111 1111 1111</Comments><!-- ${key} -->`
  t.same(hidden(order({ header })), [key, card, key, '4111-1111 1111 1111', key])
  t.same(hidden(order({ secret: '<SharedSecret>SharedSecret</SharedSecret>' })), ['SharedSecret'], 'names of elements stay')
})

t.test('no value, note, extension or fault holds a secret', async (t) => {
  const both = `${key} ${card}`
  const header = `<Payment><PCard number="${card}"/></Payment><Comments>${both}<Attachment><URL>${both}</URL></Attachment></Comments>
    <Extrinsic name="${card}">4111 1111 1111 1111</Extrinsic><Extrinsic name="${'n'.repeat(55)}${card}">v</Extrinsic>
    <ShipTo><Address addressID="${card}"><Name>${both}</Name><PostalAddress><DeliverTo>${both}</DeliverTo><Street>${both}</Street></PostalAddress></Address></ShipTo>
    <Contact role="buyer"><Name>${both}</Name></Contact>`
  const items = line({
    attributes: `lineNumber="${card}" isReturn="yes" requestedDeliveryDate="${both}"`,
    id: `<SupplierPartID>${both}</SupplierPartID>`,
    price: `<Money currency="${card}">${both}</Money>`,
    unit: both,
    rest: `<Comments>${both}</Comments>`
  })
  const xml = order({
    request: ` deploymentMode="${both}"`,
    attributes: ` type="${both}" orderType="${both}" orderVersion="${both}"`,
    header,
    items: items + line()
  })
    .replaceAll('AN01-BUYER', both)
    .replace('AN01-HUB', both)
    .replace('PO-7', both)
    .replace('1664.77', both)
  const { request, answer, faults, sender } = read(xml)
  const returned = JSON.stringify([plain(request), answer, plain(faults), { ...sender, sharedSecret: '' }])
  t.notMatch(returned, /tp_0123|41111111|4111 1111/)
  t.match(returned, `"${'*'.repeat(19)} ${'*'.repeat(16)}"`)
  t.equal(sender?.sharedSecret, key)
  t.match(JSON.stringify(read(envelope(`<Request><${key}/></Request>`)).faults), /does not take \*{19}/)
})

t.test('a short secret is masked in notes, but not in the values of the order', async (t) => {
  const header = '<Payment><PCard number="5000"/></Payment><Comments>card 5000</Comments>'
  const { request } = read(order({ header, items: line({ attributes: 'quantity="5000"' }) }))
  t.match(plain(request), { order: { notes: ['card ****', /PCard/], items: [{ quantity: '5000' }] } })
})

t.test('a document with many secrets is refused', async (t) => {
  const header = Array.from({ length: 9 }, (_, i) => `<PCard number="411111111111111${i}"/>`).join('')
  const { request, faults, secrets } = read(order({ header }))
  t.same(request, { kind: 'unsupported' })
  t.match(faults, [{ code: 'invalid-value', path: '/cXML' }])
  t.equal(secrets.length, 10)
})

t.test('a value is found wherever it is', async (t) => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 })
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 5 }), (text, value) => {
      t.equal(mask(text, [makeNeedle(value)]), text.replaceAll(value, '*'.repeat(value.length)))
    })
  )
  t.same(
    merge([
      { from: 5, to: 7 },
      { from: 1, to: 3 },
      { from: 2, to: 4 },
      { from: 4, to: 5 }
    ]),
    [{ from: 1, to: 7 }]
  )
})

t.test('a card number is found as a pattern with single separators finds it', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('1', '1', '2', ' ', '-', 'x'), maxLength: 80 })
  const digits = fc.string({ unit: fc.constantFrom('1', '1', '2'), minLength: 8, maxLength: 10 })
  fc.assert(
    fc.property(text, digits, (text, value) => {
      const pattern = new RegExp([...value].join('[ -]?'), 'g')
      const expected = text.replace(pattern, (found) => '*'.repeat(found.length))
      t.equal(mask(text, [makeNeedle(value)]), expected)
      const inside = `${text}${value.replace(/(?=2)/g, '-')}${text}`
      t.equal(
        mask(inside, [makeNeedle(value)]),
        inside.replace(pattern, (found) => '*'.repeat(found.length))
      )
    })
  )
})

t.test('the time of the search does not grow with the length of the secret', async (t) => {
  const search = (length: number) =>
    processorTime(() => {
      for (const value of [`b${'a'.repeat(length)}`, `${'a'.repeat(length)}b`]) mask('a'.repeat(2_000_000), [makeNeedle(value)])
    })
  const [short, long] = [search(20), search(60_000)]
  t.ok(long < 100 * short, `${long} ms and ${short} ms: a search in the product of both lengths would take 3,000 times as long`)
})

t.test('escaped markup is read once, however many secrets begin in it', async (t) => {
  for (const part of [
    '&lt;SharedSecret&gt;',
    '&lt;SharedSecret ',
    '&lt;PCard number=&quot;',
    '&lt;SharedSecret&gt;a&lt;/SharedSecret&gt;',
    '&amp;'.padEnd(9, 'amp;')
  ]) {
    const time = (count: number) => processorTime(() => hiddenSecrets(part.repeat(count)))
    t.ok(time(40_000) < 40 * Math.max(time(4_000), 1), part)
  }
})
