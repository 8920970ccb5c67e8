import t from 'tap'
import { ublWords } from '../../../dialects/ubl/words.ts'
import { purchaseOrder } from '../../../schemas/purchase-order.ts'

t.test('every element below a purchase order has a word in UBL', async (t) => {
  const xsd = purchaseOrder.xsd.source.toString()
  for (const type of [
    'complexType name="purchase-order"',
    'complexType name="purchase-order-item"',
    'group name="header"',
    'complexType name="party"',
    'complexType name="address"'
  ]) {
    const [, content = ''] = new RegExp(`<xs:${type}>(.*?)\n  </xs:`, 's').exec(xsd) ?? []
    const names = [...content.matchAll(/<xs:element name="([\w-]+)"/g)].map(([, name = '']) => name)
    t.ok(names.length > 0, type)
    for (const name of names) t.type(ublWords[name], 'string', name)
  }
})
