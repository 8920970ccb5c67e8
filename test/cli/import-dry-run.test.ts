import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { ImportDryRun } from '../../cli/import/dry-run.ts'
import { decimal } from '../../domain/money.ts'
import { openStore } from '../../stores/open.ts'
import { draft } from '../build.ts'
import { databaseFolder } from '../memory.ts'

const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const gtins = ['4006381333931', '04006381333931', '9520714000376', '9520714014830']
const maybe = <T>(...values: readonly T[]) => fc.constantFrom(undefined, undefined, ...values)

const item = fc
  .record({
    id: fc.constantFrom(...ids),
    name: fc.constantFrom('Bolt', 'Nut'),
    gtin: maybe(...gtins, ...gtins),
    onHand: maybe('0', '1', '1.0'),
    currency: maybe('EUR', 'USD')
  })
  .map(({ id, name, gtin, onHand, currency }) => {
    const { onHand: _onHand, ...fields } = draft({ name })
    const more = {
      ...(gtin === undefined ? {} : { gtin }),
      ...(onHand === undefined ? {} : { onHand: decimal(onHand) }),
      ...(currency === undefined ? {} : { currency })
    }
    return { id, draft: { ...fields, ...more } }
  })

t.test('a dry run of several batches has the outcomes of their import, to the word', async (t) => {
  const store = await openStore(`sqlite:${join(databaseFolder(t), 'shop.db')}`, 'EUR')
  t.teardown(() => store.close())
  const batches = fc.array(fc.array(item, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 6 })
  // Each run starts from the products that the run before has left.
  const rule = fc.asyncProperty(batches, fc.subarray(ids), async (batches, deleted) => {
    for (const id of deleted) await store.deleteProduct(id, {}).catch(() => undefined)
    const dryRun = new ImportDryRun(store)
    const expected = []
    for (const batch of batches) expected.push(await dryRun.importProducts(batch))
    const outcomes = []
    for (const batch of batches) outcomes.push(await store.importProducts(batch))
    dryRun.close()
    return JSON.stringify(expected) === JSON.stringify(outcomes)
  })
  await fc.assert(rule, { numRuns: 300, endOnFailure: true })
})
