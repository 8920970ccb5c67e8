import t from 'tap'
import { build, xml } from '../build.ts'
import { item, order } from '../plugins/refusal.ts'

const accepted: Readonly<Record<string, string | Buffer>> = {
  'the smallest order': order(),
  'a UTF-8 byte order mark': `\ufeff${order()}`,
  'a byte order mark and a declaration': `\ufeff<?xml version="1.0" encoding="utf-8"?>\n${order()}`,
  'a declaration with single quotes and standalone': `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n${order()}`,
  'a declaration without encoding': `<?xml version="1.0"?>${order()}`,
  'white space around the root element': `\n \t${order()}\r\n\n`,
  'comments before, in and behind': `<!-- <a> & "b' --><purchase-order><!--c-->${item()}<!----></purchase-order><!-- d -->`,
  'processing instructions before, in and behind': `<?a?><?xml-stylesheet href="x"?>${order(`<?b c > ?>${item()}`)}<?d e?>`,
  'a processing instruction with an apostrophe': order(`<?a don't?>${item()}<?b '?>`),
  'a comment in a quantity': order(item(undefined, '<quantity><!-- one -->1<!-- piece --></quantity>')),
  'a quantity in a CDATA section': order(item(undefined, '<quantity> <![CDATA[1]]>\n</quantity>')),
  'a quantity by reference': order(item(undefined, '<quantity>&#49;</quantity>')),
  'white space around values': order('<item>\n<product-id>\n ABC-1\t</product-id>\n<quantity unit=" C62 "> 1.000 </quantity></item>'),
  'white space in tags':
    "<purchase-order\n><item ><product-id\t>ABC-1</product-id\r\n><quantity\n unit = 'C62'\n>1</quantity ></item></purchase-order >",
  'declared namespaces that nothing is in': `<purchase-order xmlns:x="urn:x" xmlns="">${item()}</purchase-order>`,
  'a schema location': `<purchase-order xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://127.0.0.1:9/a.xsd">${item()}</purchase-order>`,
  'empty optional texts': order(`<buyer><name/><phone></phone><address/></buyer><note/>${item()}`),
  'a note of 4,000 references': order(`<note>${'&#x1F600;'.repeat(4000)}</note>${item()}`),
  'an attribute with markup in it': order(`<extension name="a &gt; > &amp;&quot;'">b</extension>${item()}`)
}

t.test('XML that means a valid order is accepted however it is written', async (t) => {
  const { app } = await build(t)
  for (const [title, body] of Object.entries(accepted)) {
    const response = await app.inject({ method: 'POST', url: '/order', headers: xml, payload: body })
    t.equal(response.statusCode, 201, `${title}: ${response.body}`)
    t.match(response.body, '<product-id href="/product/ABC-1">ABC-1</product-id>', title)
  }
})

t.test('text/xml is read as application/xml is, and a charset of UTF-8 may be said', async (t) => {
  const { app } = await build(t)
  for (const type of ['text/xml', 'application/xml; charset=utf-8', 'application/xml;charset="UTF-8"', 'Application/XML']) {
    const response = await app.inject({ method: 'POST', url: '/order', headers: { 'content-type': type }, payload: order() })
    t.equal(response.statusCode, 201, `${type}: ${response.body}`)
  }
})
