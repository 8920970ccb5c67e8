import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { type Decimal, decimal } from '../../domain/money.ts'
import { ImportDryRun } from '../../stores/import-dry-run.ts'
import { openStore } from '../../stores/open.ts'
import { ImportTally, type TallyEntry } from '../../stores/sqlite/import-tally.ts'
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

t.test('a tally holds what was entered last, by id and by GTIN', (t) => {
  const tally = new ImportTally()
  const byId = new Map<string, TallyEntry>()
  const byGtin = new Map<string, string>()
  const count = 50_000
  for (let i = 0; i < count; i++) {
    const id = `${'x'.repeat(i % 60)}${Math.floor(i / 60) % 2000}`
    const gtin = i % 3 === 0 ? null : String(10_000_000_000_000 + i)
    const onHand = i % 5 === 0 ? null : (String((i % 2000) - 1000) as Decimal)
    const before = byId.get(id)
    if (before && before.gtin !== null) byGtin.delete(before.gtin)
    if (gtin !== null) byGtin.set(gtin, id)
    const entered = { id, digest: String(i), gtin, onHand }
    byId.set(id, entered)
    tally.enter(entered)
  }
  t.ok([...byId].every(([id, entered]) => JSON.stringify(tally.find(id)) === JSON.stringify(entered)))
  t.ok([...byGtin].every(([gtin, id]) => tally.holder(gtin)?.id === id))
  t.equal(tally.find('none'), undefined)
  t.equal(tally.holder('10000000000000'), undefined, 'one that was given up')
  tally.enter({ id: 'none', digest: '', gtin: '012345678905', onHand: '-999999999999.999' as Decimal })
  t.equal(tally.holder('12345670'), undefined)
  for (const gtin of ['012345678905', '00012345678905']) {
    t.same(tally.holder(gtin), { id: 'none', digest: '', gtin: '012345678905', onHand: '-999999999999.999' }, gtin)
  }
  tally.close()
  t.end()
})
