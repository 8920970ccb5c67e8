import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig, settings } from '../../config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const files = readdirSync(join(root, 'docker')).filter((name) => /^compose.*\.yaml$/.test(name))

interface Mount {
  readonly source: string
}
interface Service {
  readonly image?: string
  readonly build?: { readonly context: string; readonly dockerfile: string }
  readonly environment?: Readonly<Record<string, string | number>>
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly (string | Mount)[]
  readonly secrets?: readonly string[]
  readonly stop_grace_period?: string
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> }
}
interface Compose {
  readonly name?: string
  readonly services: Readonly<Record<string, Service>>
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>
  readonly volumes?: object
  readonly networks?: { readonly shop?: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } } }
}

/** Reads a compose file. Each variable in it has its default, as if none was set. */
function load(file: string): Compose {
  return parse(read(`docker/${file}`).replace(/\$\{\w+:-([^}]*)\}/g, '$1')) as Compose
}

const composed = new Map(files.map((file) => [file, load(file)]))
const services = [...composed.values()].flatMap((compose) => Object.entries(compose.services))
/** The files that can be started alone. Each of the others only changes one of these. */
const whole = [...composed.values()].filter(({ name }) => name !== undefined)

t.test('the compose files can run at once: each has its own name, port and network', async (t) => {
  t.ok(whole.length >= 2)
  const ports = [...composed.values()].flatMap((compose) => Object.values(compose.services).flatMap(({ ports = [] }) => ports))
  const hostPorts = ports.map((port) => port.split(':')[0])
  t.equal(new Set(hostPorts).size, hostPorts.length, `${hostPorts}`)
  for (const one of [whole.map(({ name }) => name), whole.map(({ networks }) => networks?.shop?.ipam.config[0]?.subnet)])
    t.equal(new Set(one).size, whole.length, `${one}`)
})

t.test('every image is built here, or is one of Docker’s official ones with its version', async (t) => {
  for (const [name, { image, build }] of services) {
    if (build) t.ok(existsSync(join(root, 'docker', build.context, build.dockerfile)), `${name} is built from ${build.dockerfile}`)
    else if (image !== undefined) t.match(image, /^(?:nginx|postgres):\d+(?:\.\d+)?$/, name)
  }
})

t.test('the shop’s environment is settings, and stopping it takes no longer than Docker waits', async (t) => {
  for (const { services } of whole) {
    const { environment = {}, env_file = [], stop_grace_period = '' } = services['shop'] ?? {}
    for (const name of Object.keys(environment)) {
      const isFile = name.endsWith('_FILE')
      const setting: { readonly secret?: true } | undefined = { ...settings }[name.replace(/_FILE$/, '') as keyof typeof settings]
      t.ok(isFile ? setting?.secret : setting, name)
    }
    const given = Object.entries(environment).filter(([name]) => !name.endsWith('_FILE'))
    const config = readConfig(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
    t.ok(config.OPS_PORT, 'health and metrics have a port that nobody publishes')
    t.ok(Number.parseInt(stop_grace_period, 10) > config.SHUTDOWN_DELAY + config.SHUTDOWN_TIMEOUT)
    t.same(env_file, [{ path: 'shop.env', required: false }])
  }
})

t.test('the log of every service has a limit, so that it does not fill the disk', async (t) => {
  for (const { services } of whole) {
    for (const [name, { logging }] of Object.entries(services))
      t.match(logging, { driver: 'json-file', options: { 'max-size': /^\d+m$/, 'max-file': /^\d+$/ } }, name)
  }
})

t.test('every file that is mounted is there, or is made by what the page for operators says', async (t) => {
  for (const [name, { volumes = [] }] of services) {
    for (const volume of volumes) {
      const source = typeof volume === 'string' ? (volume.split(':')[0] ?? '') : volume.source
      if (!source.startsWith('.')) continue
      const path = join('docker', source)
      t.ok(existsSync(join(root, path)) || read('docs/operations.md').includes(path), `${name} mounts ${path}`)
    }
  }
})

t.test('one command makes every secret that is needed, once, for the containers and for nobody else here', async (t) => {
  const docker = join(t.testdir(), 'docker')
  mkdirSync(docker)
  copyFileSync(join(root, 'docker/secrets.sh'), join(docker, 'secrets.sh'))
  const make = () => execFileSync('sh', ['docker/secrets.sh'], { cwd: dirname(docker), encoding: 'utf8', stdio: 'pipe' })
  const secrets = () =>
    Object.fromEntries(readdirSync(join(docker, 'secrets')).map((name) => [name, readFileSync(join(docker, 'secrets', name), 'utf8')]))
  make()
  const made = secrets()
  const needed = [...composed.values()].flatMap(({ secrets = {} }) => Object.values(secrets).map(({ file }) => file))
  t.ok(needed.length > 0)
  t.same(
    Object.keys(made)
      .map((name) => `./secrets/${name}`)
      .sort(),
    [...new Set(needed)].sort()
  )
  t.equal(statSync(join(docker, 'secrets')).mode & 0o777, 0o700)
  // The user in the container has another number than the user who made the files, and must be able to read them.
  for (const name of Object.keys(made)) t.equal(statSync(join(docker, 'secrets', name)).mode & 0o777, 0o444, name)
  const url = new URL(readConfig({ DATABASE_URL_FILE: join(docker, 'secrets/database-url') }).DATABASE_URL)
  t.equal(url.password, made['postgres-password'])
  t.ok(String(made['session-secret']).length >= 64)
  make()
  t.same(secrets(), made, 'again, they stay')

  writeFileSync(join(docker, 'secrets/empty'), '')
  execFileSync('rm', ['-f', join(docker, 'secrets/postgres-password')])
  t.throws(make, /postgres-password/, 'a password that is lost is not replaced by another')
  t.equal(secrets()['database-url'], made['database-url'])
})

t.test('the commands for containers name files, services and commands that there are', async (t) => {
  const [, section = ''] = read('docs/operations.md').split(/^## In containers$/m)
  const lines = [...(section.split(/^## /m)[0] ?? '').matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.split('\n')
  )
  const commands = lines.filter((line) => line.includes('docker compose'))
  t.ok(commands.length > 5)
  const overview = read('cli/commands.ts')
  for (const command of commands) {
    const used = /docker compose((?: -f \S+)+)/.exec(command)?.[1]?.trim().split(/ ?-f /).slice(1) ?? []
    t.ok(used.length > 0 && used.every((file) => existsSync(join(root, file))), command)
    const [, service] = /\b(?:exec|run)(?: -\S+)* (\w+)/.exec(command) ?? []
    const known = used.flatMap((file) => Object.keys(composed.get(file.replace('docker/', ''))?.services ?? {}))
    if (service !== undefined) t.ok(known.includes(service), `${service}: ${command}`)
    const [, word] = /\btradepost (\w+)/.exec(command) ?? []
    if (word !== undefined) t.match(overview, new RegExp(`\\b${word}(?:Command|Create|List|Revoke)?\\b`), command)
  }
  for (const [, script = ''] of section.matchAll(/\bsh (\S+\.sh)/g)) t.ok(existsSync(join(root, script)), script)
})

t.test('the image is built from every source that is compiled', async (t) => {
  const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] }
  const allowed = read('.dockerignore').split('\n')
  for (const source of [...include, 'package.json', 'package-lock.json', 'build.js']) t.ok(allowed.includes(`!${source}`), source)
})
