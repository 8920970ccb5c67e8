import t from 'tap'
import { orderStatusXsd } from '../../schemas/order-status.ts'
import { productXsd } from '../../schemas/product.ts'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { stockXsd } from '../../schemas/stock.ts'
import type { Xsd } from '../../schemas/vocabulary.ts'
import { webhookXsd } from '../../schemas/webhook.ts'
import { makeXmlGate } from '../../xml/gate.ts'

const gate = makeXmlGate()
const item = '<item><product-id>A</product-id><quantity>1</quantity></item>'

function details(xml: string, xsd: Xsd, ...roots: readonly string[]): readonly string[] {
  return gate.validate(gate.parse(Buffer.from(xml)), xsd, roots).map(({ detail }) => detail)
}

t.test('for every schema, the messages name what is missing and what values are allowed', async (t) => {
  const cases: readonly (readonly [string, Xsd, readonly string[]])[] = [
    ['<order/>', orderXsd, ['<order> is not complete: it needs <item>.']],
    [`<order version="0">${item}</order>`, orderXsd, ['The attribute "version" of <order> is "0"; it must be a whole number above 0.']],
    [
      '<delivery event="e" attempt="x" at="2026-11-20T15:00:00Z"/>',
      webhookXsd,
      ['The attribute "attempt" of <delivery> is "x"; it must be a whole number, 0 or more.']
    ],
    [
      `<order><placed-at>now</placed-at>${item}</order>`,
      orderXsd,
      ['<placed-at> is "now"; it must be a date and time such as 2026-11-20T15:00:00Z.']
    ],
    [`<order>${item}<total>a</total></order>`, orderXsd, ['<total> is "a"; it must be a decimal number.']],
    [
      `<order>${item}<total>1E2</total></order>`,
      orderXsd,
      ['<total> is "1E2"; it must be a decimal number. Write it without an exponent.']
    ],
    [`<order>${item}<total>1,000</total></order>`, orderXsd, ['<total> is "1,000"; it must be a decimal number. Write 1.000 or 1000.']],
    [`<order>${item}<total>1,000,000</total></order>`, orderXsd, ['<total> is "1,000,000"; it must be a decimal number.']],
    [`<order>${item}<link rel="self"/></order>`, orderXsd, ['<link> needs the attribute "href".']],
    [`<order>${item}<link rel="self" href="/"><b/></link></order>`, orderXsd, ['<link> has attributes only: <b> is not allowed in it.']],
    [`<order>${item}<link rel="self" href="/">text</link></order>`, orderXsd, ['<link> must be empty.']],
    ['<product/>', productXsd, ['<product> is not complete: it needs <name>.']],
    ['<product><name>A</name></product>', productXsd, ['<product> is not complete: it needs <price>.']],
    [
      '<product><name/><price>1,50</price><image href="ftp://a"/><backorder>yes</backorder></product>',
      productXsd,
      [
        '<name> has 0 characters; it must be a text of 1 to 256 characters.',
        '<price> is "1,50"; it must be a price with up to 12 digits and up to 4 fraction digits, such as 9.99. Write 1.50.',
        'The attribute "href" of <image> is "ftp://a"; it must be an https URL, or a path that starts with one /, of up to 1,600 characters.',
        '<backorder> is "yes"; it must be one of allowed, none.'
      ]
    ],
    [
      '<stock><on-hand>many</on-hand></stock>',
      stockXsd,
      [
        '<on-hand> is "many"; it must be a number with up to 12 digits and up to 3 fraction digits, such as 40 or 2.5; below 0 when more was sold on backorder than has arrived.'
      ]
    ],
    [
      '<order-status><status>paid</status></order-status>',
      orderStatusXsd,
      ['<status> is "paid"; it must be one of received, accepted, rejected, shipped, completed, cancelled.']
    ],
    ['<stock><on-hand>1</on-hand><on-hand>2</on-hand></stock>', stockXsd, ['There can be only one <on-hand> in <stock>.']]
  ]
  for (const [xml, xsd, expected] of cases)
    t.same(details(xml, xsd, 'order', 'product', 'stock', 'order-status', 'delivery'), expected, xml)
})

t.test('a value is shown as far as it helps, also when it looks like a message', async (t) => {
  const long = details(`<stock><on-hand>${'9'.repeat(1000)}</on-hand></stock>`, stockXsd, 'stock')
  t.match(long[0], /^<on-hand> is "9{79}…"; it must be/)
  const odd = details("<stock><on-hand>' is not a valid value of 'x' must be</on-hand></stock>", stockXsd, 'stock')
  t.match(odd[0], /^<on-hand> is ".*"; it must be a number/)
})

t.test('if several roots are allowed, all are named', async (t) => {
  t.same(details('<products/>', orderXsd, 'order', 'purchase-order'), [
    'The root element must be <order> or <purchase-order>, without a namespace; this one is <products>.'
  ])
})
