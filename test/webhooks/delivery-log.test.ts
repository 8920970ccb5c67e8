import t from 'tap'
import { build } from '../build.ts'
import { addWebhook, createProducts, disabled } from './delivering.ts'
import { startReceiver } from './receiver.ts'

t.test('each attempt that fails is one line of the log, and so is a webhook that the shop disables, without URL and secrets', async (t) => {
  const lines: string[] = []
  const logTo = { write: (line: string) => void lines.push(line) }
  const shop = await build(t, { logTo, settings: { WEBHOOK_ALLOW: '127.0.0.1' } })
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  const receiver = await startReceiver(t, (response, _, count) => response.writeHead(count === 1 ? 503 : 410).end())
  const { id, secret } = await addWebhook(shop, `${receiver.url}/secret-path`)
  await createProducts(shop, 'A')
  await disabled(shop, id)
  const about = () => lines.map((line) => JSON.parse(line)).filter(({ webhook }) => webhook !== undefined)
  while (about().length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  // The log has only the beginning of an id that looks like an order's.
  const common = { webhook: `${id.slice(0, 8)}…`, customer: 'ERP' }
  t.match(about(), [
    { ...common, level: 30, attempt: 1, status: 503, nextAttempt: /^\d{4}-.*Z$/, msg: /sent again/ },
    { ...common, level: 40, attempt: 2, status: 410, reason: /410/, msg: /disabled/ }
  ])
  t.equal(about().length, 2)
  for (const hidden of [secret, 'secret-path']) t.notOk(about().some((line) => JSON.stringify(line).includes(hidden)))
})
