import t from 'tap'
import type { Decimal } from '../../domain/money.ts'
import { ImportTally, type TallyEntry } from '../../stores/sqlite/import-tally.ts'

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
