import t from 'tap'
import type { UblAnswerBasis } from '../../dialects/buyer-document.ts'
import { replacesDocument } from '../../dialects/submission.ts'
import type { OrderDocument } from '../../domain/order.ts'

const ubl = (document: UblAnswerBasis['document']): UblAnswerBasis => ({ vocabulary: 'ubl', document })
const last: OrderDocument = { mediaType: 'application/xml', digest: 'x', answer: {} }

t.test('an OrderChange does not replace the document that an order came from', async (t) => {
  t.equal(replacesDocument(ubl('OrderChange'), last), false)
  t.equal(replacesDocument(ubl('OrderChange'), undefined), true, 'the order has no document yet')
  t.equal(replacesDocument(ubl('Order'), last), true)
  t.equal(replacesDocument({ vocabulary: 'cxml' }, last), true)
})
