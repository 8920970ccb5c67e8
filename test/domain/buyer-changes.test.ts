import t from 'tap'
import {
  cancellationPrecondition,
  decideCancellation,
  endedOrder,
  isRepeated,
  latestRevision,
  locatedAtNumber,
  locatedInDocument,
  outdated,
  repeatedOutcome,
  storedRevision
} from '../../domain/buyer-changes.ts'
import { DomainError } from '../../domain/errors.ts'
import type { OrderDocument } from '../../domain/order.ts'
import { noObjections } from '../../domain/refusing.ts'

const last: OrderDocument = { mediaType: 'application/xml', digest: 'old', revision: '3', answer: {} }
const numberAt = { line: 4, path: '/Order/cbc:ID' }
const revisionAt = { line: 5, path: '/Order/cbc:SequenceNumberID' }
const objection = { invalid: [{ detail: 'No.' }], refused: [] }

t.test('a change must be newer than the last one, as numbers', async (t) => {
  const codes = (revision?: string, document?: OrderDocument) => {
    const { invalid, refused } = outdated({ ...(revision === undefined ? {} : { revision }), revisionAt }, document)
    return [...invalid, ...refused]
  }
  t.same(codes('10', last), [], '10 is above 3')
  t.same(codes('2'), [], 'the first change')
  t.same(codes(undefined, last), [], 'a change without a version')
  t.match(codes('3', last), [{ code: 'outdated-revision', ...revisionAt }])
  t.match(codes('x', last), [{ code: 'invalid-value', ...revisionAt }])
  t.equal(latestRevision({}, last), '3', 'it keeps the last version')
  t.equal(latestRevision({ revision: '4' }, last), '4')
})

t.test('the same bytes repeat the last document, which placed the order or changed it', async (t) => {
  t.ok(isRepeated('old', last))
  t.notOk(isRepeated('new', last))
  t.notOk(isRepeated(undefined, undefined))
  t.equal(repeatedOutcome({ version: 1 }), 'placed')
  t.equal(repeatedOutcome({ version: 2 }), 'changed')
})

t.test('another document cannot use the number of an order that a document placed and that has ended', async (t) => {
  const cancelled = { id: 'o', status: 'cancelled' } as const
  t.match(endedOrder(cancelled, last, 'new', { numberAt }), { refused: [{ code: 'sent-before', detail: /is cancelled/, ...numberAt }] })
  t.equal(endedOrder(cancelled, last, 'old', {}), noObjections, 'the same bytes have a refusal of their own')
  t.equal(endedOrder(cancelled, undefined, 'new', {}), noObjections, "an order in the shop's own vocabulary gives its number up")
  t.equal(endedOrder({ id: 'o', status: 'accepted' }, last, 'new', {}), noObjections)
})

t.test('the store cancels, unless the order is cancelled already or the document is a test', async (t) => {
  const [accepted, shipped, cancelled] = [{ status: 'accepted' }, { status: 'shipped' }, { status: 'cancelled' }] as const
  t.ok(decideCancellation({}, accepted, last, false))
  t.notOk(decideCancellation({}, accepted, last, true))
  t.notOk(decideCancellation({}, cancelled, last, false))
  t.ok(decideCancellation({}, shipped, last, true), 'the store refuses it')
  const refused = (...of: Parameters<typeof decideCancellation>) => {
    try {
      decideCancellation(...of)
    } catch (error) {
      return error instanceof DomainError ? error.faults.length : error
    }
  }
  t.equal(refused({ objections: objection }, accepted, last, false), 1)
  t.equal(refused({ objections: objection }, shipped, last, false), 2, 'the status is listed too')
  t.equal(refused({ objections: objection }, cancelled, last, false), 1)
  t.equal(refused({ revision: '3' }, accepted, last, true), 1)
})

t.test('a fault without a place is located at the number of the order', async (t) => {
  const error = new DomainError('order-refused', 'No.', { orderId: 'o' })
  t.match(locatedAtNumber(error, { numberAt }), { orderId: 'o', faults: [{ detail: 'No.', ...numberAt }] })
  t.equal(locatedAtNumber(error, {}), error)
  const placed = new DomainError('order-refused', 'No.', { faults: [{ detail: 'No.', at: ['item', 1] }] })
  t.equal(locatedAtNumber(placed, { numberAt }), placed)
})

t.test('faults of the whole order move to the lines of the document', async (t) => {
  const faults = [
    { detail: 'a', at: ['item', 2, 'quantity'] },
    { detail: 'b', at: ['item', 1] },
    { detail: 'c', at: ['currency'] },
    { detail: 'd' }
  ]
  t.strictSame(locatedInDocument(new DomainError('order-refused', 'No.', { faults }), [undefined, 1]).faults, [
    { detail: 'a', at: ['item', 1, 'quantity'] },
    { detail: 'b' },
    { detail: 'c', at: ['currency'] },
    { detail: 'd' }
  ])
})

t.test('only a revision that is a number is stored', async (t) => {
  t.same(
    ['3', '3.10', 'x', '-1', undefined].map((revision) => storedRevision(revision === undefined ? {} : { revision })),
    ['3', '3.10', undefined, undefined, undefined]
  )
})

t.test('a cancellation with a revision needs the version that it was compared with, and one without needs none', async (t) => {
  t.same(cancellationPrecondition({ revision: '4' }, { version: 7 }), { version: 7 })
  t.same(cancellationPrecondition({}, { version: 7 }), {})
})
