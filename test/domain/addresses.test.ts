import t from 'tap'
import { comparable, isSameAddress } from '../../domain/addresses.ts'

t.test('capital letters and white space do not matter', async (t) => {
  t.equal(comparable(' ACME\n  Works '), 'acme works')
  t.equal(comparable(undefined), '')
})

t.test('addresses are the same if all their parts are', async (t) => {
  const address = { street: 'Dock 4', city: 'Delft', country: 'NL' }
  t.equal(isSameAddress(address, { street: 'dock  4', city: 'DELFT ', country: 'nl' }), true)
  t.equal(isSameAddress(address, { ...address, postalCode: '2611' }), false)
  t.equal(isSameAddress({ city: 'Delft' }, { region: 'Delft' }), false)
})
