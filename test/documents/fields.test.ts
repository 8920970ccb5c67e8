import t from 'tap'
import { readFields } from '../../documents/fields.ts'

t.test('of a form with very many fields a thousand are kept, however short they are, and all control fields before them', async (t) => {
  const { fields, isCut } = readFields(Buffer.from(`${'a&'.repeat(16_000)}_method=PUT`))
  t.same([fields.length, fields[0], isCut], [1_001, ['_method', 'PUT'], true])
  t.equal(readFields(Buffer.from('_a&'.repeat(2_000))).fields.length, 1_000)
})

t.test('a form that fits is kept as a whole', async (t) => {
  const { fields, isCut } = readFields(Buffer.from('_method=PUT&a=1&b=2'))
  t.same(
    [fields, isCut],
    [
      [
        ['_method', 'PUT'],
        ['a', '1'],
        ['b', '2']
      ],
      false
    ]
  )
})
