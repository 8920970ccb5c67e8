import t from 'tap'
import { ImportLines } from '../../stores/sqlite/import-lines.ts'

t.test('the line of an id is the one on which it was entered first', (t) => {
  const lines = new ImportLines()
  t.teardown(() => lines.close())
  const ids = Array.from({ length: 20_000 }, (_, i) => `${'x'.repeat(i % 60)}${i}`)
  t.ok(ids.every((id, i) => lines.enter(id, i + 1) === undefined))
  t.ok(ids.every((id, i) => lines.enter(id, 99_999) === i + 1))
  t.equal(lines.enter('X1', 1), undefined, 'ids with other letters are other ids')
  t.end()
})
