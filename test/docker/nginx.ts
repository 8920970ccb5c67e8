import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { type Answered, type Sent as Asked, ask } from '../ask.ts'
import { build, type Shop } from '../build.ts'
import { freePort } from '../free-port.ts'

export interface Sent extends Omit<Asked, 'path'> {
  /** The loopback address that it comes from; all of 127.0.0.0/8 is this machine. */
  readonly from?: string
}

export interface ProxiedShop extends Shop {
  /** Where nginx listens. */
  readonly port: number
  /** Through nginx, each time on a connection of its own. */
  send(path: string, sent?: Sent): Promise<Answered>
  /** Past nginx, to the service. */
  sendDirectly(path: string, sent?: Sent): Promise<Answered>
  /** How many requests, and connections, the service has had. */
  readonly seen: { requests: number; connections: number }
  /** The access log, with a line for each request that was sent. nginx writes it after the answer. */
  accessLog(): Promise<string>
  errorLog(): string
}

/**
 * A shop that listens, and a real nginx in front of it with docker/nginx.conf, in which only ports and folders are others. What the
 * cache has is fresh for a day, if a test does not set another lifetime.
 */
export async function buildProxied(t: Test, options: Parameters<typeof build>[1] = {}): Promise<ProxiedShop> {
  const shop = await build(t, { ...options, settings: { TRUST_PROXY: '127.0.0.1', CACHE_MAX_AGE: '86400', ...options.settings } })
  const seen = { requests: 0, connections: 0 }
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  shop.app.server.on('request', () => seen.requests++).on('connection', () => seen.connections++)
  const servicePort = (shop.app.server.address() as AddressInfo).port
  const { port, log, errors } = await startNginx(t, [servicePort])
  let sent = 0
  return {
    ...shop,
    port,
    seen,
    send(path, options) {
      sent += 1
      return send(port, path, options)
    },
    sendDirectly: (path, sent) => send(servicePort, path, sent),
    errorLog: () => readFileSync(errors, 'utf8'),
    async accessLog() {
      for (; ; await sleep(20)) {
        const text = readFileSync(log, 'utf8')
        if (text.split('\n').length > sent) return text
      }
    }
  }
}

/** A service that nginx finds by its name `shop`, which this name server on 127.0.0.1 knows. */
export interface NamedService {
  readonly port: number
  readonly nameServer: number
}

/** What is added to the server of docker/nginx.conf. */
interface Additions {
  /** The folder of its certificate, when it is to speak https as docker/https.conf has it. */
  readonly certificates?: string
  /** Lines of configuration. */
  readonly lines?: string
}

interface Nginx {
  readonly port: number
  /** The access log. */
  readonly log: string
  /** The error log. */
  readonly errors: string
  readonly httpsPort: number
}

/**
 * A real nginx with docker/nginx.conf, in front of services on these ports, or of one that it finds by its name.
 */
export async function startNginx(t: Test, services: readonly number[] | NamedService, additions: Additions = {}): Promise<Nginx> {
  for (;;) {
    const nginx = await launch(t, services, additions)
    if (nginx) return nginx
  }
}

/** @returns undefined if another program was quicker to take a port */
async function launch(
  t: Test,
  services: readonly number[] | NamedService,
  { certificates, lines = '' }: Additions
): Promise<Nginx | undefined> {
  // Not t.testdir(): the shop's database is there, and a second call clears it.
  const folder = mkdtempSync(join(tmpdir(), 'tradepost-nginx-'))
  const [port, log, errors, conf] = [await freePort(), join(folder, 'access.log'), join(folder, 'error.log'), join(folder, 'nginx.conf')]
  mkdirSync(join(folder, 'cache'))
  mkdirSync(join(folder, 'server.d'))
  writeFileSync(
    conf,
    configuration('nginx.conf', {
      'error_log stderr crit': 'error_log stderr info',
      'listen 80 ': `listen 127.0.0.1:${port} `,
      '/var/cache/nginx': join(folder, 'cache'),
      '/etc/nginx/server.d': join(folder, 'server.d'),
      ...('nameServer' in services ? named(services) : fixed(services))
    })
  )
  writeFileSync(join(folder, 'server.d', 'lines.conf'), lines)
  const httpsPort = certificates === undefined ? 0 : await freePort()
  if (certificates !== undefined) {
    const changes = { 'listen 443 ': `listen 127.0.0.1:${httpsPort} `, '/etc/nginx/certificates': certificates }
    writeFileSync(join(folder, 'server.d', 'https.conf'), configuration('https.conf', changes))
  }
  // When nginx is started by root, its workers run as another user by default, and that user cannot enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const pid = join(folder, 'pid')
  const nginx = spawn('nginx', ['-p', folder, '-c', conf, '-g', `daemon off; pid ${pid}; ${user}`], {
    stdio: ['ignore', openSync(log, 'a'), openSync(errors, 'a')],
    env: environment
  })
  await once(nginx, 'spawn').catch(() => {
    throw new Error('nginx is not there, and this test needs the real one. On Debian or Ubuntu: apt-get install nginx-light')
  })
  const ended = once(nginx, 'exit')
  t.teardown(async () => {
    nginx.kill('SIGTERM')
    await ended
    // Its cache manager may still be at work for a moment.
    rmSync(folder, { recursive: true, maxRetries: 10 })
  })
  // nginx writes the file of its id when it has all of its ports. Another program may listen on one of them, so a connection to
  // it says nothing.
  for (; !existsSync(pid); await sleep(50)) {
    if (nginx.exitCode === null && nginx.signalCode === null) continue
    const reason = readFileSync(errors, 'utf8')
    if (reason.includes('Address already in use')) return undefined
    throw new Error(`nginx did not start: ${reason}`)
  }
  return { port, log, errors, httpsPort }
}

const environment = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin` }

/** A file of docker/ with these changes. */
function configuration(name: string, changes: Readonly<Record<string, string>>): string {
  const given = readFileSync(new URL(`../../docker/${name}`, import.meta.url), 'utf8')
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`docker/${name} has no ${JSON.stringify(from)}`)
    return changed.replaceAll(from, to)
  }, given)
}

const server = 'server shop:3000 resolve '
const failing = 'max_fails=1 fail_timeout=2s'

function fixed(ports: readonly number[]): Record<string, string> {
  return { [`${server}${failing};`]: ports.map((port) => `server 127.0.0.1:${port} ${failing};`).join(' ') }
}

function named({ port, nameServer }: NamedService): Record<string, string> {
  const resolver = {
    'resolver 127.0.0.11 ': `resolver 127.0.0.1:${nameServer} `,
    // Each worker process keeps addresses of its own: with one of them a test sees at once what all requests will see.
    'worker_processes auto': 'worker_processes 1'
  }
  if (looksUpAgain()) return { ...resolver, [server]: server.replace('3000', String(port)) }
  // An older nginx looks a name up again only where it is a variable, and keeps no connections then.
  return { ...resolver, [server]: 'server 127.0.0.1:9 ', 'proxy_pass http://shop;': `set $shop http://shop:${port}; proxy_pass $shop;` }
}

/** Whether this nginx has `resolve` for a server of an upstream: 1.27.3 and newer. */
function looksUpAgain(): boolean {
  const { stderr } = spawnSync('nginx', ['-v'], { env: environment, encoding: 'utf8' })
  const [major = 0, minor = 0, patch = 0] = (/\d+\.\d+\.\d+/.exec(stderr)?.[0] ?? '').split('.').map(Number)
  return major * 1e6 + minor * 1e3 + patch >= 1_027_003
}

export function send(port: number, path: string, { from = '127.0.0.1', ...sent }: Sent = {}): Promise<Answered> {
  return ask(port, from, undefined, { path, ...sent })
}
