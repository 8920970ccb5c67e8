import t from 'tap'
import { item, order, type Refusal, refusals } from '../plugins/refusal.ts'

const invalid = (body: string, path: string, detail: RegExp, line = 1): Refusal => ({ body, code: 'invalid-document', path, detail, line })
const at = '/purchase-order'
const quantity = (written: string) =>
  invalid(order(item(undefined, `<quantity>${written}</quantity>`)), `${at}/item/quantity`, /must be a number above 0 .* such as 3 or 2.5/)
const product = (written: string) =>
  invalid(order(item(`<product-id>${written}</product-id>`)), `${at}/item/product-id`, /must be 1 to 64 letters, digits/)
const header = (written: string, path: string, detail: RegExp) => invalid(order(`\n${written}${item()}`), `${at}${path}`, detail, 2)
const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'

t.test('an order that is not as its schema has it', (t) =>
  refusals(t, {
    'an order without items': invalid('<purchase-order/>', at, /needs <item>/),
    'an order of a header only': invalid(order('<note>a</note>'), at, /needs <item>/),
    'an item without product': invalid(order(item('')), `${at}/item`, /needs <product-id> or <gtin>/),
    'an item without quantity': invalid(order(item(undefined, '')), `${at}/item`, /needs <quantity>/),
    'an item with nothing in it': invalid(order('<item/>'), `${at}/item`, /needs <product-id> or <gtin>/),
    'an item by product-id and gtin': invalid(
      order(item('<product-id>ABC-1</product-id><gtin>4006381333931</gtin>')),
      `${at}/item/gtin`,
      /<product-id> or <gtin> in <item>, not both/
    ),
    'a quantity of 0': quantity('0'),
    'a quantity of 0.000': quantity('0.000'),
    'a quantity of -1': quantity('-1'),
    'a quantity of +1': quantity('+1'),
    'a quantity of 1e3': quantity('1e3'),
    'a quantity of NaN': quantity('NaN'),
    'a quantity of INF': quantity('INF'),
    'a quantity of 0.0001': quantity('0.0001'),
    'a quantity of 1.': quantity('1.'),
    'a quantity of .5': quantity('.5'),
    'a quantity of 007': quantity('007'),
    'a quantity of 1,5': quantity('1,5'),
    'a quantity of 1 000': quantity('1 000'),
    'a quantity of 0x10': quantity('0x10'),
    'a quantity of ten digits': quantity('1234567890'),
    'a quantity in Arabic digits': quantity('\u0663'),
    'a quantity with a no-break space': quantity('\u00a01'),
    'an empty quantity': quantity(''),
    'a text where a quantity belongs': quantity('three'),
    'an element where a quantity belongs': invalid(
      order(item(undefined, '<quantity><b>1</b></quantity>')),
      `${at}/item/quantity`,
      /holds text only/
    ),
    'a unit that is none': invalid(
      order(item(undefined, '<quantity unit="kg">1</quantity>')),
      `${at}/item/quantity`,
      /"unit" of <quantity> is "kg".*Recommendation 20/
    ),
    'a product id of .': product('.'),
    'a product id of ..': product('..'),
    'a product id with a slash': product('a/b'),
    'a product id of 65 characters': product('a'.repeat(65)),
    'an empty product id': product(''),
    'a GTIN with a wrong check digit': {
      ...invalid(order(`\n${item('<gtin>4006381333930</gtin>')}`), `${at}/item/gtin`, /check digit/, 2)
    },
    'a GTIN of eleven digits': invalid(order(item('<gtin>12345678901</gtin>')), `${at}/item/gtin`, /8, 12, 13 or 14 digits/),
    'an unknown element': header('<urgent>yes</urgent>', '/urgent', /no <urgent> in <purchase-order>; it can hold <order-number>/),
    'an unknown element in an item': invalid(
      order(item(undefined, undefined, '<price>1</price>')),
      `${at}/item/price`,
      /no <price> in <item>.*<unit-price>/
    ),
    'an element named __proto__': header('<__proto__>a</__proto__>', '/__proto__', /no <__proto__>/),
    'an element named constructor': header('<constructor/>', '/constructor', /no <constructor>/),
    'an attribute named hasOwnProperty': invalid('<purchase-order hasOwnProperty="a"/>', at, /no attribute "hasOwnProperty"/),
    'an attribute named __proto__': invalid('<purchase-order __proto__="a"/>', at, /no attribute "__proto__"/),
    'an attribute of XML': invalid('<purchase-order xml:lang="de"/>', at, /no attribute "xml:lang"/),
    'an attribute on a text': header('<note lang="de">a</note>', '/note', /<note> has no attribute "lang"/),
    'an extension without name': header('<extension>a</extension>', '/extension', /needs the attribute "name"/),
    'text between the elements': invalid(order(`\nhello\n${item()}`), at, /elements only/),
    'another root element': invalid('<order/>', '/order', /root element must be <purchase-order>/),
    'a root element of another case': invalid('<Purchase-Order/>', '/Purchase-Order', /must be <purchase-order>/),
    'a root element named __proto__': invalid('<__proto__/>', '/__proto__', /must be <purchase-order>/),
    'a root element in a namespace': invalid('<purchase-order xmlns="urn:x"/>', at, /without a namespace/),
    'a root element with a prefix': invalid('<x:purchase-order xmlns:x="urn:x"/>', '/x:purchase-order', /without a namespace/),
    'an element in a namespace': invalid(order('<item xmlns="urn:x"/>'), `${at}/item`, /namespace/),
    'an XInclude': invalid(
      order(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>${item()}`),
      `${at}/xi:include`,
      /no <xi:include>/
    ),
    'another type by xsi:type': invalid(order(`<note ${xsi} xsi:type="extension" name="a">b</note>${item()}`), `${at}/note`, /xsi:type/),
    'an element that is nil': invalid(order(`<note ${xsi} xsi:nil="true"/>${item()}`), `${at}/note`, /xsi:nil/),
    'a header element twice': header('<currency>EUR</currency><currency>EUR</currency>', '/currency[2]', /only one <currency>/),
    'header elements in another order': header(
      '<currency>EUR</currency><order-number>1</order-number>',
      '/order-number',
      /<order-number> is in the wrong place: it must come before <currency>/
    ),
    'a header element behind several that come later': header(
      '<buyer/><note/><extension name="a">b</extension><order-number>1</order-number>',
      '/order-number',
      /<order-number> is in the wrong place: it must come before <buyer>/
    ),
    'a header element behind the items': invalid(
      order(`${item()}<note>a</note>`),
      `${at}/note`,
      /<note> is in the wrong place: it must come before <item>/
    ),
    'a price before the quantity': invalid(
      order('<item><product-id>A</product-id><unit-price>1</unit-price><quantity>1</quantity></item>'),
      `${at}/item/unit-price`,
      /must come after <quantity>/
    ),
    'an order number of 65 characters': header(`<order-number>${'1'.repeat(65)}</order-number>`, '/order-number', /65 characters.*1 to 64/),
    'an empty order number': header('<order-number/>', '/order-number', /0 characters.*1 to 64/),
    'a name of 257 characters': header(`<buyer><name>${'é'.repeat(257)}</name></buyer>`, '/buyer/name', /257 characters.*up to 256/),
    'a note of 4,001 characters': header(`<note>${'a'.repeat(4001)}</note>`, '/note', /4001 characters.*up to 4000/),
    'an extension name of 65 characters': header(
      `<extension name="${'a'.repeat(65)}">b</extension>`,
      '/extension',
      /"name" of <extension> has 65 characters/
    ),
    '101 extensions': header(
      '<extension name="a">b</extension>'.repeat(101),
      '/extension[101]',
      /at most 100 <extension> in <purchase-order>/
    ),
    '101 notes of an item': invalid(
      order(item(undefined, undefined, '<note>a</note>'.repeat(101))),
      `${at}/item/note[101]`,
      /at most 100 <note> in <item>/
    ),
    '101 extensions of an item': invalid(
      order(item(undefined, undefined, '<extension name="a">b</extension>'.repeat(101))),
      `${at}/item/extension[101]`,
      /at most 100 <extension> in <item>/
    ),
    '101 notes': header('<note>a</note>'.repeat(101), '/note[101]', /at most 100 <note> in <purchase-order>/),
    'a date that is none': header('<issue-date>2026-02-30</issue-date>', '/issue-date', /such as 2026-11-20/),
    'a date in German': header('<issue-date>20.11.2026</issue-date>', '/issue-date', /such as 2026-11-20/),
    'a currency in small letters': header('<currency>eur</currency>', '/currency', /ISO 4217/),
    'a country of three letters': header(
      '<buyer><address><country>DEU</country></address></buyer>',
      '/buyer/address/country',
      /ISO 3166-1/
    ),
    'an e-mail address without @': header('<buyer><email>a b</email></buyer>', '/buyer/email', /e-mail address/),
    'a price with five fraction digits': invalid(
      order(item(undefined, undefined, '<unit-price>9.99001</unit-price>')),
      `${at}/item/unit-price`,
      /up to 4 fraction digits/
    ),
    '10,001 items': { ...invalid(order(item().repeat(10_001)), `${at}/item[10001]`, /10000 items at most; this document has 10001/) }
  })
)
