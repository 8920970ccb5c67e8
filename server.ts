// Imported first, so that signals are handled while the other modules load.
import './stopping.ts'
import { setFlagsFromString } from 'node:v8'
import type { DestinationStream } from 'pino'
import { ConfigError, readConfig } from './config.ts'
import { StoreOpenError } from './domain/errors.ts'
import { collectGarbage } from './garbage.ts'
import { checkPort, type ListenAddress, ListenError, listen } from './listening.ts'
import { explainLoadError, isLoadError } from './load-error.ts'
import { standardOutput } from './logging/standard-output.ts'
import { bufferTurn } from './logging/turn-buffer.ts'
import { release } from './release.ts'
import { stopper } from './stopping.ts'
import { openStore } from './stores/open.ts'

/**
 * Without this V8 lets the heap grow to several times its live size, and the process keeps that memory. Measured while a whole
 * catalogue is sent (bench/catalogue-stream.ts, Node 20): it grows by 85 MB without this and by 40 MB with it, at equal speed.
 * It is set when everything is loaded, because V8 rejects all code caches, also those of Node.js itself, that were made with
 * other options.
 */
function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=100')
  // V8 computes its limit when it collects garbage, so it needs a collection after the change.
  collectGarbage()
}

/** On a terminal the log is text. Otherwise it is JSON. */
async function logDestination(): Promise<DestinationStream> {
  if (!process.stdout.isTTY) return bufferTurn(standardOutput())
  const { terminalLog } = await import('./logging/terminal.ts')
  return terminalLog(process.stdout, { colors: process.stdout.hasColors() })
}

async function start(): Promise<void> {
  const config = readConfig()
  const place: ListenAddress = { host: config.HOST, port: config.PORT, setting: 'PORT' }
  const opsPlace: ListenAddress | undefined =
    config.OPS_PORT === undefined ? undefined : { host: config.HOST, port: config.OPS_PORT, setting: 'OPS_PORT' }
  await checkPort(place)
  if (opsPlace) await checkPort(opsPlace)
  // The thread of the store starts while this thread loads the code of the service.
  const [store, { buildApp, buildOps }, { Documents }, { loadSample }] = await Promise.all([
    openStore(config.DATABASE_URL, config.CURRENCY),
    import('./app.ts'),
    import('./documents/documents.ts'),
    import('./sample.ts')
  ])
  const isStopping = () => stopper.isStopping
  // Nothing closes the documents: a document process exits when this process does, because the channel between them closes.
  const documents = new Documents((details, message) => app.log.warn(details, message))
  const app = await buildApp({ config, store, documents, release, isStopping, logTo: await logDestination() })
  if (config.SAMPLE_CATALOGUE && (await store.isEmpty())) {
    const count = await loadSample(store)
    app.log.info({ products: count }, 'loaded the sample catalogue')
  }
  stopper.watch({ config, app })
  const address = await listen(app, place, (address) => `Tradepost listens on ${address}${config.BASE_URL.path}/`)
  // The document process loads its code when it first starts. It starts now, so that it loads the same version as this process,
  // even if the files are replaced later; and not sooner, so that the service listens early.
  await documents.start()
  if (stopper.isStopping) return
  limitHeapGrowth()
  const base = `${address}${config.BASE_URL.path}`
  const ops = opsPlace && (await buildOps({ config, app, isStopping }))
  if (ops) stopper.watch({ config, app, ops })
  const opsAddress = ops && (await listen(ops, opsPlace, (address) => `Health and metrics at ${address}`))
  const hints = [`curl ${base}/products`, `open ${base}/ in a browser`, `read ${base}/docs`, `curl ${opsAddress ?? address}/health/ready`]
  app.log.info({ address: base, ...(opsAddress === undefined ? {} : { ops: opsAddress }), try: hints }, 'Tradepost is ready')
  // Standard output goes to a file or a collector, but somebody at the terminal sees standard error.
  if (process.stderr.isTTY && !process.stdout.isTTY)
    process.stderr.write(`Tradepost listens on ${base}/\n${hints.map((hint) => `  ${hint}\n`).join('')}`)
}

/** An expected error is explained by its message. Only an unexpected one needs its stack. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ([ConfigError, ListenError, StoreOpenError].some((kind) => error instanceof kind)) return error.message
  if (isLoadError(error)) return explainLoadError(error)
  return error.stack ?? error.message
}

function fail(error: unknown): never {
  process.stderr.write(`${explain(error)}\n`)
  // Without exit(), an open store would keep the process alive, and a supervisor would not restart it.
  process.exit(1)
}

start().catch(fail)
