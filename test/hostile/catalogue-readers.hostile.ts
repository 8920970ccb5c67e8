import t from 'tap'
import { message } from '../http/wire.ts'
import { importLarge } from './catalogue.ts'
import { short, startHostile } from './shop.ts'

// In a file of its own: the refusals of a caller are 5 ms apart, so 6,000 of them take half a minute, and leave the processors to the
// file that runs beside it.
t.test('two hundred connections that ask sixty times each for the catalogue, and never read it', async (t) => {
  const shop = await startHostile(t, short)
  await importLarge(t, shop)
  await shop.survives(t, async () => {
    const asked = Array.from({ length: 200 }, async (_, i) => {
      const socket = await shop.open(`127.0.2.${1 + (i % 2)}`)
      socket.write(message('GET /catalogue').repeat(60), 'latin1')
    })
    await Promise.all(asked)
    await shop.recovers(t)
  })
})
