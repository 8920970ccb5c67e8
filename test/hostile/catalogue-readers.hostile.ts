import t from 'tap'
import { message } from '../http/wire.ts'
import { importLarge } from './catalogue.ts'
import { short, startHostile } from './shop.ts'

// In a file of its own: 12,000 refusals that are 5 ms apart take a minute, and leave the processors to the file that runs beside it.
t.test('two hundred connections that ask sixty times each for the catalogue, and never read it', async (t) => {
  const shop = await startHostile(t, short)
  await importLarge(t, shop)
  await shop.survives(t, async () => {
    const asked = Array.from({ length: 200 }, async () => {
      const socket = await shop.open('127.0.2.1')
      socket.write(message('GET /catalogue').repeat(60), 'latin1')
    })
    await Promise.all(asked)
    await shop.recovers(t)
  })
})
