import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { Documents } from '../../documents/documents.ts'
import type { Payer } from '../../documents/payer.ts'
import { guest } from '../../domain/caller.ts'
import { purchaseOrder } from '../../schemas/purchase-order.ts'
import { documentProcesses, skip } from './processes.ts'

const limits = { maxOrderItems: 10_000, marks: 200_000 }
const bytes = Buffer.from(
  `<purchase-order>${'<item><product-id>ABC-1</product-id><quantity>1</quantity></item>'.repeat(600)}</purchase-order>`
)
const sent = { notation: 'xml', bytes } as const
const payer: Payer = {
  sender: () => ({ name: 'a', group: 'guests', signal: new AbortController().signal }),
  chargeWork: () => undefined,
  workRefusal: () => undefined
}

/** A page of orders as JSON, which is too large for the process for small documents. */
const page = JSON.stringify({ orders: [], links: Array.from({ length: 1_000 }, () => ({ rel: 'self', href: '/orders?after=1234567890' })) })

const context = { base: '', currency: 'EUR', shop: 'Shop', caller: guest, self: '/orders' }

const answers = {
  'a large answer does not wait for a large document that is being read': {
    ask: (documents: Documents) => documents.write(payer, 'orders', 'application/json', page, context),
    gives: Uint8Array
  },
  'a refused document that was read before does not wait for one that is being read': {
    ask: (documents: Documents) => documents.locate(payer, sent, purchaseOrder, limits, [['item', 600, 'quantity']]),
    gives: [{ line: 1, path: '/purchase-order/item[600]/quantity' }]
  }
}

for (const [title, { ask, gives }] of Object.entries(answers)) {
  t.test(title, { skip }, async (t) => {
    const others = documentProcesses()
    const documents = new Documents(() => undefined)
    const read = () => documents.read(payer, sent, purchaseOrder, limits)
    t.match(await read(), { digest: String })
    const reading = documentProcesses().filter((pid) => !others.includes(pid))
    t.equal(reading.length, 1)
    for (const pid of reading) process.kill(pid, 'SIGSTOP')
    let isRead = false
    const pending = read().then(() => (isRead = true))
    t.match(await ask(documents).catch((error: unknown) => error), gives)
    await sleep(1)
    t.equal(isRead, false, 'the document is still being read')
    for (const pid of reading) process.kill(pid, 'SIGCONT')
    await pending
  })
}
