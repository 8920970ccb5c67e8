import t from 'tap'
import { writtenAttribute } from '../../xml/attributes.ts'
import type { Tag } from '../../xml/tag.ts'

t.test('an attribute is named as it is written, and its declarations are read once, whatever the number of errors', async (t) => {
  const many = Array.from({ length: 100 }, (_, i) => i)
  const parentText = `<a ${many.map((i) => `xmlns:p${i}="n${i}"`).join(' ')}>`
  const source = `${parentText}<b xmlns:own="n5" p3:c="" other:c="" own:d=""/>`
  let looks = 0
  const rest = { nth: 1, line: 1, end: 0, after: 0, marks: 0, counts: new Map<string, number>() }
  const parent: Tag = {
    ...rest,
    name: 'a',
    parent: undefined,
    get start() {
      looks++
      return 0
    }
  }
  const tag: Tag = { ...rest, name: 'b', parent, start: parentText.length }
  for (const _ of many) {
    t.equal(writtenAttribute(source, tag, '{n3}c'), 'p3:c')
    t.equal(writtenAttribute(source, tag, '{n5}d'), 'own:d')
  }
  t.equal(writtenAttribute(source, tag, 'plain'), 'plain')
  t.ok(looks > 0 && looks <= 3, `${looks} times`)
})
