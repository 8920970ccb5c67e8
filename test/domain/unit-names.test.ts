import t from 'tap'
import { namesOf, unitsNamed, withUnit } from '../../domain/unit-names.ts'

t.test('a message names a unit for people, with the code that a document writes', async (t) => {
  t.equal(withUnit('1', 'C62'), '1 unit (C62)')
  t.equal(withUnit('2.5', 'KGM'), '2.5 kg (KGM)')
  t.equal(withUnit('10', 'XBX'), '10 boxes (XBX)')
  t.equal(unitsNamed('PK'), 'packs (PK)')
})

t.test('a unit without a known name is its code', async (t) => {
  t.same([withUnit('2', 'ZZ9'), unitsNamed('ZZ9'), namesOf('constructor')], ['2 ZZ9', 'ZZ9', ['constructor', 'constructor']])
})
