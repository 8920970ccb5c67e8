import t from 'tap'
import { orderXsd } from '../../schemas/purchase-order.ts'
import { faultsOf } from '../../xml/faults.ts'
import { ownXml } from '../../xml/gate.ts'
import { asTag } from '../../xml/messages.ts'
import { item, order } from '../plugins/refusal.ts'

t.test('no part of a document is validated twice, however its elements are arranged', async (t) => {
  const swapped = item('', '<quantity>1</quantity><product-id>A</product-id>')
  const items = item().repeat(50_000)
  const contents = {
    'misplaced in each item': `${swapped.repeat(98)}${items}`,
    'misplaced in the last item': `${items}${swapped}`,
    'a header behind the items': `${item()}${'<buyer/>'.repeat(98)}${items}`,
    'a namespace': `${'<item xmlns="urn:x"/>'.repeat(98)}${items}`,
    'much in one unknown element': `${item()}<unknown>${items}</unknown>${item()}`,
    'much in one element of text': `<order-number>${items}</order-number>${item()}`,
    'many comments': `${item()}${'<!-- -->'.repeat(100_000)}${items}`,
    valid: items
  }
  for (const [title, content] of Object.entries(contents)) {
    const document = ownXml(order(content))
    let validated = 0
    let most = 0
    const validateValues = (xml: string) => {
      validated += xml.length
      most = Math.max(most, xml.length)
      return []
    }
    faultsOf(document, { vocabulary: orderXsd.vocabulary, roots: ['purchase-order'], spell: asTag, validateValues })
    t.ok(validated <= 1.1 * document.source.length, `${title}: ${validated} characters of ${document.source.length}`)
    if (title !== 'many comments') t.ok(most <= 500_000, `${title}: ${most} characters at once`)
  }
})
