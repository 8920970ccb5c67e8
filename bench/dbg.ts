import { startLoader } from './load.ts'

const l = startLoader()
const port = Number(process.argv[2])
for (let i = 0; i < 3; i++) {
  const r = await l.run({
    port,
    requests: ['GET /product/ABC-1 HTTP/1.1\r\nHost: shop\r\n\r\n'],
    clients: 64,
    milliseconds: 2500,
    seed: 1,
    status: 200
  })
  console.log(r.perSecond)
}
await l.close()
