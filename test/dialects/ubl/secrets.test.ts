import t from 'tap'
import { findCards } from '../../../dialects/ubl/secrets.ts'
import { find, trimmedText } from '../../../dialects/xml-element.ts'
import { elements, line, order, read } from './documents.ts'

const card = '4111111111111111'

t.test('the number and the security code of a card are found wherever they stand', async (t) => {
  const card =
    '<cac:CardAccount><cbc:PrimaryAccountNumberID>4111<!-- --> 1111</cbc:PrimaryAccountNumberID><cbc:CV2ID><![CDATA[123]]></cbc:CV2ID></cac:CardAccount>'
  const empty = '<cbc:PrimaryAccountNumberID/><cbc:PrimaryAccountNumberID></cbc:PrimaryAccountNumberID>'
  const xml = order(
    `<cac:PaymentMeans>${card}</cac:PaymentMeans>${empty}`,
    line('1', '<x:PrimaryAccountNumberID xmlns:x="urn:x">5\n6</x:PrimaryAccountNumberID >')
  )
  t.strictSame(
    read(xml).secrets.map(({ from, to }) => xml.slice(from, to)),
    ['4111<!-- --> 1111', '<![CDATA[123]]>', '5\n6']
  )
})

t.test('no part of a masked element has the number of a card, even where text and elements are mixed', async (t) => {
  const payment = `<cac:PaymentMeans><cac:CardAccount><cbc:PrimaryAccountNumberID>${card}</cbc:PrimaryAccountNumberID></cac:CardAccount></cac:PaymentMeans>`
  const source = order(`${payment}<cbc:Note name="${card}">pay ${card} <b>${card}</b> 4111 <![CDATA[1111]]> 1111 1111</cbc:Note>`)
  const root = elements(source)
  t.match(JSON.stringify(root, withoutTags), '"mixed":["pay 4111111111111111 "', 'the element itself has them')
  const masked = findCards(root, source).masked(root)
  t.equal(trimmedText(find(masked, 'Note')), `pay ${'*'.repeat(16)}  ${'*'.repeat(19)}`)
  t.notMatch(JSON.stringify(masked, withoutTags), /\d{4}/)
})

/** The tags have offsets, and are not masked. */
function withoutTags(name: string, value: unknown): unknown {
  return name === 'tag' ? undefined : value
}
