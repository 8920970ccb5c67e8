import { randomBytes } from 'node:crypto'
import type { OrderWriteOptions, Store } from '../../domain/store.ts'
import type { Rule } from './contract.ts'
import { everyOrder, item, onHand, placing, purchase, stocked } from './fixtures.ts'

const nowhere = '00000000-0000-4000-8000-000000000000'

const document = {
  mediaType: 'text/xml',
  digest: 'a'.repeat(64),
  revision: '3',
  answer: { vocabulary: 'ubl', orderNumber: 'Ä "7"\u{1f600}' },
  bytes: Uint8Array.from([0, 255, 0xef, 0xbb, 0xbf, 10, 13])
} as const

const numbered = (quantity: number, orderNumber = 'PO-1', more: OrderWriteOptions = {}) => ({
  order: purchase([item('a', quantity)], { orderNumber, ...(more.document ? { hasDocument: true as const } : {}) }),
  customer: 'acme',
  status: 'accepted' as const,
  ...more
})

async function stored(store: Store, id: string) {
  const found = await store.wholeDocumentOf(id)
  return found && { ...found, bytes: Uint8Array.from(found.bytes) }
}

export function documentContract(rule: Rule): void {
  rule('an order keeps the document that it came from, byte for byte', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(numbered(1, 'PO-1', { document }))
    t.equal(order.hasDocument, true)
    t.same(await stored(store, order.id), document)
    t.same(await store.order(order.id), order)
    const { bytes, ...known } = document
    t.same(await store.documentOf(order.id), { ...known, size: bytes.length }, 'what is known of it is read without its bytes')
    const large = { ...document, digest: 'b'.repeat(64), bytes: new Uint8Array(randomBytes(2_000_000)) }
    const { revision: _, ...unrevised } = large
    const { order: other } = await store.placeOrder(numbered(1, 'PO-2', { document: unrevised }))
    const read = await stored(store, other.id)
    t.same({ ...read, bytes: [] }, { ...unrevised, bytes: [] })
    // Tap would write two million bytes out to compare them.
    t.ok(Buffer.from(read?.bytes ?? []).equals(unrevised.bytes))
  })

  rule('an order without a document has none, and an unknown order is not found', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(placing('a'))
    t.notOk('hasDocument' in order)
    const reads: readonly ((id: string) => Promise<unknown>)[] = [store.documentOf, store.wholeDocumentOf]
    for (const read of reads) {
      t.equal(await read(order.id), undefined)
      await t.rejects(read(nowhere), { code: 'order-not-found' })
      await t.rejects(read('nonsense'), { code: 'order-not-found' })
    }
  })

  rule('a change keeps the document, replaces what is known of it, or replaces it whole', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(numbered(1, 'PO-1', { document }))
    t.equal((await store.changeOrder(order.id, purchase([item('a', 2)]), {})).hasDocument, true)
    t.same(await stored(store, order.id), document)
    const { bytes: _, ...known } = { ...document, digest: 'b'.repeat(64), revision: '4', answer: { vocabulary: 'cxml' } }
    await store.changeOrder(order.id, purchase([item('a', 3)]), {}, { document: known })
    t.same(await stored(store, order.id), { ...known, bytes: document.bytes })
    const whole = { ...document, mediaType: 'application/xml', digest: 'c'.repeat(64), bytes: Uint8Array.from([1]) }
    await store.changeOrder(order.id, purchase([item('a', 4)], { hasDocument: true }), {}, { document: whole })
    t.same(await stored(store, order.id), whole)
    await store.setOrderStatus(order.id, 'cancelled', {})
    t.same(await stored(store, order.id), whole)
  })

  rule('an order that came without a document can get one by a change', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(numbered(1))
    const changed = await store.changeOrder(order.id, purchase([item('a', 2)], { hasDocument: true }), {}, { document })
    t.equal(changed.hasDocument, true)
    t.same(await stored(store, order.id), document)
  })

  rule('a change that is refused leaves the document as it was', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(numbered(1, 'PO-1', { document }))
    const other = { ...document, bytes: Uint8Array.from([1]) }
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 20)]), {}, { document: other }), { code: 'order-refused' })
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 2)]), { version: 7 }, { document: other }), {
      code: 'precondition-failed'
    })
    t.same(await stored(store, order.id), document)
  })

  rule('a repeated order keeps the document of the first', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(numbered(1, 'PO-1', { document }))
    const again = await store.placeOrder(numbered(1, 'PO-1', { document: { ...document, bytes: Uint8Array.from([1]) } }))
    t.same([again.outcome, again.order.id], ['repeated', order.id])
    t.same(await stored(store, order.id), document)
  })

  rule('a dry run decides like the write, and stores nothing', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const dryRun = await store.placeOrder(numbered(3, 'PO-1', { document, mode: 'dry-run' }))
    t.match(dryRun, { outcome: 'placed', replayed: false, order: { total: '29.97' } })
    await t.rejects(store.order(dryRun.order.id), { code: 'order-not-found' })
    await t.rejects(store.placeOrder(numbered(11, 'PO-1', { mode: 'dry-run' })), { code: 'order-refused' })
    t.same([await everyOrder(store), await onHand(store, 'a')], [[], '10'])
    const { order } = await store.placeOrder(numbered(3, 'PO-1', { document }))
    t.match(await store.placeOrder(numbered(3, 'PO-1', { mode: 'dry-run' })), { outcome: 'repeated', order: { id: order.id } })
    await t.rejects(store.placeOrder(numbered(4, 'PO-1', { mode: 'dry-run' })), { code: 'order-number-taken' })
    const other = { document: { ...document, bytes: Uint8Array.from([1]) }, mode: 'dry-run' as const }
    const changed = await store.changeOrder(order.id, purchase([item('a', 5)], { orderNumber: 'PO-9' }), {}, other)
    t.match(changed, { orderNumber: 'PO-9', total: '49.95' })
    await t.rejects(store.changeOrder(order.id, purchase([item('a', 50)]), {}, other), { code: 'order-refused' })
    t.same(await store.order(order.id), order)
    t.same(await stored(store, order.id), document)
    t.equal(await onHand(store, 'a'), '7')
  })

  rule('dry runs beside writes take no stock from them', async (t, store) => {
    await store.createProduct('a', stocked(11))
    const writes = Array.from({ length: 20 }, (_, i) =>
      store.placeOrder(
        numbered(1, `PO-${i}`, i % 2 ? { mode: 'dry-run' } : { document: { ...document, digest: String(i).padStart(64, '0') } })
      )
    )
    t.equal((await Promise.allSettled(writes)).filter(({ status }) => status === 'fulfilled').length, 20)
    t.same([(await everyOrder(store)).length, await onHand(store, 'a')], [10, '1'])
  })

  rule('a document that was sent before places no second order of its customer', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const sent = (more = {}) => ({ ...numbered(1, 'PO-1', { document }), ...more })
    const { order } = await store.placeOrder(sent())
    t.equal((await store.placeOrder(sent())).outcome, 'repeated', 'while the order is active')
    t.equal((await store.placeOrder(sent({ customer: 'other' }))).outcome, 'placed', 'it is new from another customer')
    const revised = { ...document, digest: 'b'.repeat(64) }
    await store.changeOrder(order.id, purchase([item('a', 2)], { orderNumber: 'PO-2' }), {}, { document: revised })
    await t.rejects(store.placeOrder(sent()), { code: 'order-refused', faults: [{ code: 'sent-before', detail: new RegExp(order.id) }] })
    await store.setOrderStatus(order.id, 'cancelled', {})
    for (const digest of [document.digest, revised.digest]) {
      const again = store.placeOrder(sent({ document: { ...document, digest } }))
      await t.rejects(again, { code: 'order-refused', faults: [{ code: 'sent-before', detail: /cancelled/ }] })
    }
    t.equal((await store.placeOrder(sent({ document: { ...document, digest: 'c'.repeat(64) } }))).outcome, 'placed', 'another document')
    t.equal(await onHand(store, 'a'), '8')
  })

  rule('a document that is sent with several numbers at once places one order of its customer', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const { order: earlier } = await store.placeOrder(numbered(1, 'PO-0'))
    const revised = { ...document, digest: 'd'.repeat(64) }
    // While the first batch is written, the others wait, so that some are decided together.
    const answers = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, i) => store.placeOrder(numbered(1, `PO-${i + 1}`, { document }))),
      store.changeOrder(earlier.id, purchase([item('a', 2)], { orderNumber: 'PO-R' }), {}, { document: revised }),
      ...Array.from({ length: 5 }, (_, i) => store.placeOrder(numbered(40, `PO-L${i}`, { document: revised })))
    ])
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? answer.reason.faults[0]?.code : []))
    t.same(new Set(refused), new Set(['sent-before']))
    t.equal((await everyOrder(store)).length, answers.length - refused.length + (answers[20]?.status === 'fulfilled' ? 0 : 1))
    t.ok(answers.slice(0, 20).filter(({ status }) => status === 'fulfilled').length === 1)
  })

  rule('objections refuse what is placed or changed, together with what the store finds', async (t, store) => {
    await store.createProduct('a', stocked(10))
    const { order } = await store.placeOrder(numbered(1, 'PO-1', { document }))
    const objections = { invalid: [], refused: [{ code: 'outdated-revision' as const, detail: 'Old.' }] }
    const faults = [{ code: 'outdated-revision' }, { code: 'out-of-stock' }]
    const other = { ...document, digest: 'e'.repeat(64) }
    await t.rejects(store.placeOrder(numbered(20, 'PO-2', { document: other, objections })), { code: 'order-refused', faults })
    const wanted = purchase([item('a', 20)], { orderNumber: 'PO-1', hasDocument: true })
    await t.rejects(store.changeOrder(order.id, wanted, {}, { document: other, objections }), { code: 'order-refused', faults })
    await t.rejects(store.placeOrder(numbered(20, 'PO-1', { document: other })), {
      code: 'order-refused',
      orderId: order.id,
      faults: [{ at: ['order-number'] }, { code: 'out-of-stock' }]
    })
    t.same(await store.order(order.id), order)
    t.equal((await everyOrder(store)).length, 1)
  })

  rule('an order is found by its number: the active one, else the last that ended', async (t, store) => {
    await store.createProduct('a', stocked(100))
    t.equal(await store.orderHeadNumbered('acme', 'PO-1'), undefined)
    const { order: first } = await store.placeOrder(numbered(1, 'PO-1', { document }))
    t.same(await store.orderHeadNumbered('acme', 'PO-1'), await store.orderHead(first.id))
    t.equal(await store.orderHeadNumbered('other', 'PO-1'), undefined)
    t.equal(await store.orderHeadNumbered('acme', 'po-1'), undefined)
    await store.setOrderStatus(first.id, 'cancelled', {})
    t.match(await store.orderHeadNumbered('acme', 'PO-1'), { id: first.id, status: 'cancelled' })
    const { order: second } = await store.placeOrder(numbered(2))
    t.equal((await store.orderHeadNumbered('acme', 'PO-1'))?.id, second.id)
    await store.setOrderStatus(second.id, 'cancelled', {})
    t.equal((await store.orderHeadNumbered('acme', 'PO-1'))?.id, second.id, 'the last')
    const { order: third } = await store.placeOrder(numbered(3))
    await store.setOrderStatus(third.id, 'shipped', {})
    t.equal((await store.orderHeadNumbered('acme', 'PO-1'))?.id, third.id)
    await store.placeOrder({ ...placing('a'), order: purchase([item('a')], { orderNumber: 'PO-2' }) })
    t.equal(await store.orderHeadNumbered('acme', 'PO-2'), undefined, 'a guest has no numbers')
  })

  rule('one transaction after the other: 20 writers of one number make one order with one document', async (t, store) => {
    await store.createProduct('a', stocked(100))
    const answers = await Promise.all(Array.from({ length: 20 }, () => store.placeOrder(numbered(1, 'PO-1', { document }))))
    t.equal(new Set(answers.map(({ order }) => order.id)).size, 1)
    t.same(await stored(store, answers[0]?.order.id ?? ''), document)
  })
}
