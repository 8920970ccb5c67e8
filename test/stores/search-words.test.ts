import t from 'tap'
import { searchTerms } from '../../stores/search-words.ts'

t.test('a search has a bounded number of phrases, and of parts in them', async (t) => {
  t.strictSame(searchTerms('M8 x 40 zinc'), [
    { word: 'M8x40', synonyms: ['M8 40', 'M8 x 40'] },
    { word: 'zinc', synonyms: [] }
  ])
  t.strictSame(searchTerms('1x2x3x4'), [{ word: '1x2x3x4', synonyms: ['1 2 3 4', '1 x 2 x 3 x 4'] }])
  t.strictSame(searchTerms('1x2x3x4x5'), [{ word: '1x2x3x4x5', synonyms: [] }], 'no size has five numbers')
  const many = searchTerms(Array.from({ length: 40 }, (_, i) => `${i}x${i}`).join(' '))
  t.equal(many.length, 40)
  t.equal(many.filter(({ synonyms }) => synonyms.length > 0).length, 4)
  t.strictSame(searchTerms('1-2-3-4-5-6-7-8-9-10 a'), [
    { word: '1-2-3-4-5-6-7-8', synonyms: [] },
    { word: 'a', synonyms: [] }
  ])
})
