// First, so that signals are heeded while the rest is loaded.
import './stopping.ts'
import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { buildApp } from './app.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import type { Store } from './domain/store.ts'
import { buildOps } from './ops.ts'
import { loadSample } from './sample.ts'
import { stopper } from './stopping.ts'
import { openStore } from './stores/open.ts'

/** The version of the service, for entity tags and the log. */
export const release: string = (JSON.parse(readFileSync(findPackage(), 'utf8')) as { version: string }).version

function findPackage(): URL {
  // Beside the sources, or one above the built files.
  return new URL(import.meta.url.endsWith('.ts') ? './package.json' : '../package.json', import.meta.url)
}

// V8 would let garbage pile up to several times of what is in use, and the process would keep that memory: here, while a
// whole catalogue is sent (bench/catalogue-stream.ts: growth of 85 MB without this on Node 20, 40 MB with it; rates alike).
setFlagsFromString('--heap-growing-percent=100')

async function start(config: Config): Promise<void> {
  const store: Store = await openStore(config.DATABASE_URL, config.CURRENCY)
  const isStopping = () => stopper.isStopping
  const app = await buildApp({ config, store, release, isStopping })
  if (config.SAMPLE_CATALOGUE && (await store.isEmpty())) {
    const count = await loadSample(store)
    app.log.info({ products: count }, 'loaded the sample catalogue')
  }
  stopper.attend({ config, app })
  const address = await app.listen({ host: config.HOST, port: config.PORT })
  const base = `${address}${config.BASE_URL.path}`
  const ops = config.OPS_PORT === undefined ? undefined : await buildOps({ config, app, isStopping })
  if (ops) stopper.attend({ config, app, ops })
  const opsAddress = await ops?.listen({
    host: config.HOST,
    port: config.OPS_PORT ?? 0,
    listenTextResolver: (address) => `Health and metrics at ${address}`
  })
  const hints = [`curl ${base}/products`, `open ${base}/ in a browser`, `read ${base}/docs`, `curl ${opsAddress ?? address}/health/ready`]
  app.log.info({ address: base, ...(opsAddress === undefined ? {} : { ops: opsAddress }), try: hints }, `Tradepost listens on ${base}/`)
  // The log is JSON, for a collector; who started it in a terminal reads this.
  if (process.stderr.isTTY) process.stderr.write(`Tradepost listens on ${base}/\n${hints.map((hint) => `  ${hint}\n`).join('')}`)
}

try {
  await start(readConfig())
} catch (error) {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
  )
  // An open store would keep the process alive, and a supervisor waiting.
  process.exit(1)
}
