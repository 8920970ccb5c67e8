/** Measures by how much the memory of the service grows during GET /catalogue of a large catalogue. See README.md. */

import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { compile } from '../test/cli/compile.ts'
import { catalogueFile } from './catalogue-file.ts'
import { commandLine, machine, print, table } from './measure.ts'
import { listening, megabytes, startProcess, type Watched } from './process.ts'

const { products: count, seed, directory } = commandLine({ products: 100_000 })

interface Figure {
  readonly name: string
  readonly seconds: number
  readonly bytes: number
  readonly growth: number
}

/** @param pause milliseconds for which the client stops reading, after every 16 MB */
async function download(service: Watched, url: string, accept: string, pause: number, name: string): Promise<Figure> {
  service.reset()
  const [before, rest] = [performance.now(), service.memory()]
  const sent = request(url, { headers: { accept } }).end()
  const [response] = await once(sent, 'response')
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}`)
  let bytes = 0
  let next = 16 * 1024 * 1024
  for await (const chunk of response) {
    bytes += chunk.length
    if (pause === 0 || bytes < next) continue
    next += 16 * 1024 * 1024
    await sleep(pause)
  }
  return { name, seconds: (performance.now() - before) / 1000, bytes, growth: service.peak() - rest }
}

/** Requests pages, so that the memory is that of a busy service and not of one that has just started. */
async function warm(address: string): Promise<void> {
  for (let i = 0; i < 3_000; i++) await (await fetch(`${address}/products?limit=${1 + (i % 100)}`)).arrayBuffer()
}

async function measure(): Promise<string[]> {
  const path = await catalogueFile(directory, count, seed)
  const settings = { DATABASE_URL: `sqlite:${path}`, PORT: '0', LOG_LEVEL: 'info', RATE_LIMIT: 'off', SAMPLE_CATALOGUE: 'off' }
  const program = join(await compile(), 'server.js')
  const figures: Figure[] = []

  const fresh = startProcess(program, [], settings)
  try {
    figures.push(await download(fresh, `${await listening(fresh)}/catalogue`, 'application/xml', 0, 'XML, the first request of all'))
  } finally {
    fresh.child.kill()
  }

  const service = startProcess(program, [], settings)
  try {
    const address = await listening(service)
    const url = `${address}/catalogue`
    const start = service.memory()
    await warm(address)
    const warmed = service.memory()
    for (const [name, type, pause] of [
      ['XML', 'application/xml', 0],
      ['XML, a client that pauses', 'application/xml', 250],
      ['CSV', 'text/csv', 0],
      ['JSON lines', 'application/x-ndjson', 0]
    ] as const) {
      figures.push(await download(service, url, type, pause, name))
    }
    const before = service.memory()
    service.reset()
    const at = performance.now()
    const eight = await Promise.all(Array.from({ length: 8 }, () => download(service, url, 'application/xml', 0, '')))
    const bytes = eight.reduce((sum, figure) => sum + figure.bytes, 0)
    figures.push({ name: 'XML, eight at a time', seconds: (performance.now() - at) / 1000, bytes, growth: service.peak() - before })
    return [
      machine(directory),
      `${count.toLocaleString('en')} products. The resident memory of the service is ${megabytes(start)} after its start, ${megabytes(warmed)} after 3,000 pages of products, and ${megabytes(service.memory())} after the last download. Growth is the peak during a download minus the memory before it.`,
      table(
        ['GET /catalogue', 'size', 'seconds', 'MB/s', 'growth'],
        figures.map(({ name, bytes, seconds, growth }) => [
          name,
          megabytes(bytes),
          seconds.toFixed(1),
          (bytes / 1e6 / seconds).toFixed(0),
          megabytes(growth)
        ])
      )
    ]
  } finally {
    service.child.kill()
  }
}

print(...(await measure()))
