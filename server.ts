// First, so that signals are heeded while the rest is loaded.
import './stopping.ts'
import { setFlagsFromString } from 'node:v8'
import type { DestinationStream } from 'pino'
import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { StoreOpenError } from './domain/errors.ts'
import type { Store } from './domain/store.ts'
import { ListenError, listen } from './listening.ts'
import { buildOps } from './ops.ts'
import { release } from './release.ts'
import { loadSample } from './sample.ts'
import { stopper } from './stopping.ts'
import { openStore } from './stores/open.ts'

// V8 would let garbage pile up to several times of what is in use, and the process would keep that memory: here, while a
// whole catalogue is sent (bench/catalogue-stream.ts: growth of 85 MB without this on Node 20, 40 MB with it; rates alike).
setFlagsFromString('--heap-growing-percent=100')

/** For a collector the log is JSON, as it is without this; for a person at a terminal it is text. */
async function readableLog(): Promise<{ logTo?: DestinationStream }> {
  if (!process.stdout.isTTY) return {}
  const { terminalLog } = await import('./logging/terminal.ts')
  return { logTo: terminalLog(process.stdout, { colors: process.stdout.hasColors() }) }
}

async function start(config: Config): Promise<void> {
  const store: Store = await openStore(config.DATABASE_URL, config.CURRENCY)
  const isStopping = () => stopper.isStopping
  // The thread that searches starts with the first search, and reads its code then: now, while the files are those of this process.
  const searched = store.products({ q: 'first', limit: 1 }).catch(() => undefined)
  const app = await buildApp({ config, store, release, isStopping, ...(await readableLog()) })
  // So does the document process.
  const reads = app.documents.start()
  if (config.SAMPLE_CATALOGUE && (await store.isEmpty())) {
    const count = await loadSample(store)
    app.log.info({ products: count }, 'loaded the sample catalogue')
  }
  await Promise.all([searched, reads])
  stopper.attend({ config, app })
  const address = await listen(app, { host: config.HOST, port: config.PORT, setting: 'PORT' })
  const base = `${address}${config.BASE_URL.path}`
  const ops = config.OPS_PORT === undefined ? undefined : await buildOps({ config, app, isStopping })
  if (ops) stopper.attend({ config, app, ops })
  const opsPlace = { host: config.HOST, port: config.OPS_PORT ?? 0, setting: 'OPS_PORT' } as const
  const opsAddress = ops && (await listen(ops, opsPlace, (address) => `Health and metrics at ${address}`))
  const hints = [`curl ${base}/products`, `open ${base}/ in a browser`, `read ${base}/docs`, `curl ${opsAddress ?? address}/health/ready`]
  app.log.info({ address: base, ...(opsAddress === undefined ? {} : { ops: opsAddress }), try: hints }, `Tradepost listens on ${base}/`)
  // Who sends the log elsewhere, and sits in front of a terminal, reads this.
  if (process.stderr.isTTY && !process.stdout.isTTY)
    process.stderr.write(`Tradepost listens on ${base}/\n${hints.map((hint) => `  ${hint}\n`).join('')}`)
}

try {
  await start(readConfig())
} catch (error) {
  // What is to be expected is said in a line; only of what is not does a stack tell more.
  const isExplained = [ConfigError, ListenError, StoreOpenError].some((kind) => error instanceof kind)
  process.stderr.write(`${error instanceof Error ? ((isExplained ? undefined : error.stack) ?? error.message) : String(error)}\n`)
  // An open store would keep the process alive, and a supervisor waiting.
  process.exit(1)
}
