import t from 'tap'
import { comparable, isSameAddress, partyAfter } from '../../domain/addresses.ts'

t.test('capital letters, white space and the form of Unicode do not matter', async (t) => {
  t.equal(comparable(' ACME\n  Works '), 'acme works')
  t.equal(comparable('K\u00f6ln'), comparable('Ko\u0308ln'))
  t.equal(comparable(undefined), '')
  const marks = (count: number) => `o${'\u0308'.repeat(count)}`
  t.equal(comparable(marks(30)), `\u00f6${'\u0308'.repeat(29)}`)
  t.equal(comparable(marks(31)), marks(31), 'to compose so many marks takes too long')
})

t.test('addresses are the same if all their parts are', async (t) => {
  const address = { street: 'Dock 4', city: 'Delft', country: 'NL' }
  t.equal(isSameAddress(address, { street: 'dock  4', city: 'DELFT ', country: 'nl' }), true)
  t.equal(isSameAddress(address, { ...address, postalCode: '2611' }), false)
  t.equal(isSameAddress({ city: 'Delft' }, { region: 'Delft' }), false)
})

t.test('a party that gets its first name keeps the rest; one that gets another keeps its address', async (t) => {
  const before = { contact: 'Jo', taxId: 'NL1', address: { street: 'Dock 4', city: 'Delft' } }
  t.strictSame(partyAfter(before, { name: 'Works' }), { ...before, name: 'Works' })
  t.strictSame(partyAfter({ ...before, name: 'Yard' }, { name: 'Works' }), { name: 'Works', address: before.address })
  t.strictSame(partyAfter(before, { address: { city: 'Gouda' } }).address, { city: 'Gouda' }, 'an address is replaced as a whole')
})
