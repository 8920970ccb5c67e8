import t from 'tap'
import { operationOf } from '../../http/operation.ts'

const request = { method: 'POST', headers: { prefer: 'return=minimal, handling=lenient' } }

t.test('a form has no preferences, because a person gets the whole result as a page', async (t) => {
  t.equal(operationOf(request, undefined).prefer, 'return=minimal, handling=lenient')
  t.equal(operationOf({ method: 'POST', headers: {} }, undefined).prefer, '')
  t.equal(operationOf(request, new URLSearchParams('_method=PUT')).prefer, '')
})
