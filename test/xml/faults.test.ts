import t from 'tap'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { makeXmlGate, ownXml } from '../../xml/gate.ts'
import { item, order } from '../plugins/refusal.ts'

const gate = makeXmlGate()
const at = '/purchase-order'

function faults(content: string) {
  return gate.validate(ownXml(order(content)), orderXsd, ['purchase-order'])
}

const paths = (content: string) => faults(content).map(({ path }) => path)

t.test('the first error is correct, however many misplaced elements come before it', async (t) => {
  const extension = '<extension name="a">b</extension>'
  for (const wrong of ['<wrong/>', '<currency>EUR</currency>', item(undefined, '<quantity>0</quantity>')]) {
    const found = faults(`${extension.repeat(5_000)}${wrong}${item()}`)
    t.same(found[0], { detail: 'There can be at most 100 <extension> in <purchase-order>.', line: 1, path: `${at}/extension[101]` })
    t.same(
      found.map(({ path }) => path),
      Array.from({ length: 100 }, (_, i) => `${at}/extension[${i + 101}]`)
    )
  }
  t.same(paths(`${'<extension name="a"/>'.repeat(99)}${item()}${extension.repeat(50)}<wrong/>${item()}`).slice(49), [
    `${at}/extension[149]`,
    `${at}/wrong`
  ])
})

t.test('an error in a long document is listed once, at its own element, and never at the element around it', async (t) => {
  const rest = item().repeat(9_990)
  t.same(paths(`${item(undefined, '<quantity>-1</quantity>')}${rest}`), [`${at}/item[1]/quantity`])
  t.same(paths(`<currency>EUR</currency><currency>EUR</currency>${rest}`), [`${at}/currency[2]`])
  t.same(
    paths(`${item('', '<quantity>1</quantity><product-id>A</product-id>').repeat(50)}${rest}`),
    Array.from({ length: 50 }, (_, i) => `${at}/item[${i + 1}]/quantity`)
  )
  t.same(
    paths(`${'<item xmlns="urn:x"><quantity>x</quantity></item>'.repeat(30)}${rest}`),
    Array.from({ length: 30 }, (_, i) => `${at}/item[${i + 1}]`)
  )
})

t.test('of more than 100 errors the first of the document are listed, of any kind', async (t) => {
  const zero = item(undefined, '<quantity>0</quantity>')
  const found = paths(`${zero}${'<note/>'.repeat(60)}${zero}${'<unknown/>'.repeat(90)}${zero}`)
  t.equal(found.length, 100)
  t.same(found.slice(0, 2), [`${at}/item[1]/quantity`, `${at}/note[1]`])
  t.same(found.slice(60, 63), [`${at}/note[60]`, `${at}/item[2]/quantity`, `${at}/unknown[1]`])
})

t.test('a misplaced element is also wrong in its value, its attributes and what is in it', async (t) => {
  const details = (content: string) => faults(content).map(({ path, detail }) => [path?.replace(`${at}/`, ''), detail.split(/[;:.]/)[0]])
  t.same(details('<item><quantity unit="x" of="y">many</quantity></item>'), [
    ['item', '<item> is not complete'],
    ['item/quantity', 'The attribute "unit" of <quantity> is "x"'],
    ['item/quantity', '<quantity> has no attribute "of"'],
    ['item/quantity', '<quantity> is "many"']
  ])
  t.same(details('<item><note>a</note><quantity>2</quantity><gtin>1</gtin><product-id>A B</product-id></item>'), [
    ['item/note', '<note> is in the wrong place'],
    ['item/quantity', '<quantity> is in the wrong place'],
    ['item/gtin', '<gtin> is "1"'],
    ['item/product-id', 'There can be <gtin> or <product-id> in <item>, not both'],
    ['item/product-id', '<product-id> is "A B"']
  ])
  const party = '<buyer><email>nobody</email><x/><name>ACME</name><address><country>Germany</country></address></buyer>'
  t.same(details(`${item()}${party}`), [
    ['buyer', '<buyer> is in the wrong place'],
    ['buyer/email', '<email> is "nobody"'],
    ['buyer/x', 'There is no <x> in <buyer>'],
    ['buyer/name', '<name> is in the wrong place'],
    ['buyer/address/country', '<country> is "Germany"']
  ])
  t.same(details(`text${item()}<note>a</note>text<x/>`), [
    [at, '<purchase-order> holds elements only'],
    ['note', '<note> is in the wrong place'],
    ['x', 'There is no <x> in <purchase-order>']
  ])
  t.same(details('<item><unit-price>1</unit-price><unit-price>2</unit-price></item>'), [
    ['item', '<item> is not complete'],
    ['item/unit-price[2]', 'There can be only one <unit-price> in <item>']
  ])
  const many = item().repeat(20_000)
  t.same(paths(`${many}<item><quantity>x</quantity></item>${many}<note/>${item()}`).slice(0, 3), [
    `${at}/item[20001]`,
    `${at}/item[20001]/quantity`,
    `${at}/note`
  ])
})

t.test('what is wrong with an element is found in whichever part of a long document it is', async (t) => {
  const many = item().repeat(4_000)
  t.same(paths(`${many}text${many}${item(undefined, '<quantity/>')}`), [at, `${at}/item[8001]/quantity`])
  t.same(paths(`${item(undefined, '')}${many}${item(undefined, '')}${many}<item/>`), [
    `${at}/item[1]`,
    `${at}/item[4002]`,
    `${at}/item[8003]`
  ])
  t.same(paths(`${item()}<note>${many}${many}</note>${item()}<item/>`), [`${at}/note`, `${at}/note`, `${at}/item[3]`])
  t.same(paths(`${'<!-- -->'.repeat(10_000)}<buyer>${'<!-- -->'.repeat(10_000)}<name/><x/></buyer>${'<!-- -->'.repeat(10_000)}`), [
    at,
    `${at}/buyer/x`
  ])
})

t.test('an attribute that is not allowed is named as it is written, with its prefix', async (t) => {
  const quantity = (attributes: string, around = '') =>
    gate
      .validate(ownXml(`<purchase-order${around}>${item(undefined, `<quantity${attributes}>1</quantity>`)}</purchase-order>`), orderXsd, [
        'purchase-order'
      ])
      .map(({ detail }) => detail)
  t.same(quantity(' unit="KGM" q:unit="C62"', ' xmlns:q="urn:q"'), ['<quantity> has no attribute "q:unit".'])
  t.same(quantity(' xmlns:q="urn:q" unit="KGM" q:unit="C62"'), ['<quantity> has no attribute "q:unit".'])
  t.same(quantity(' xmlns:q="urn:q" xmlns:r="urn:r" r:unit="C62" unit="KGM" q:unit="C62"'), [
    '<quantity> has no attribute "r:unit".',
    '<quantity> has no attribute "q:unit".'
  ])
  t.same(quantity(' xmlns:q="urn:outer&amp;" q:unit="C62"', ' xmlns:q="urn:q"'), ['<quantity> has no attribute "q:unit".'])
  t.same(quantity(' i:unit="C62"', ' xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'), ['<quantity> has no attribute "i:unit".'])
  t.same(quantity(' xml:unit="C62"'), ['<quantity> has no attribute "xml:unit".'])
  t.same(quantity(' Unit="C62"'), ['<quantity> has no attribute "Unit".'])
})
