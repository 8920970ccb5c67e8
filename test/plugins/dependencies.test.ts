import { readFileSync } from 'node:fs'
import t from 'tap'

const top = new URL('../../', import.meta.url)
const sourceOf = (path: string) => readFileSync(new URL(path, top), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')

/** The plugins in the order in which the service registers them. */
function registered(): readonly string[] {
  const source = sourceOf('app.ts')
  const files = new Map([...source.matchAll(/import (\w+) from '\.\/plugins\/([\w-]+)\.ts'/g)].map(([, name, file]) => [name, file]))
  const service = source.slice(0, source.indexOf('export async function buildOps'))
  return [...service.matchAll(/await app\.register\((\w+)/g)].flatMap(([, name]) => files.get(name) ?? [])
}

interface Meta {
  readonly name: string
  readonly dependencies?: readonly string[]
}

async function metaOf(plugin: string): Promise<Meta> {
  const module = await import(new URL(`plugins/${plugin}.ts`, top).href)
  return module.default[Symbol.for('plugin-meta')]
}

const decorating = { app: ['decorate'], request: ['decorateRequest'], reply: ['decorateReply'] }
/** How what a plugin uses was added, by the object on which it uses it. A function that is a decorator itself uses `this`. */
const addedBy: Readonly<Record<string, readonly string[]>> = { ...decorating, this: Object.values(decorating).flat() }

/** What a plugin decorates, as `decorateRequest form`. */
function decorated(source: string): readonly string[] {
  return [...source.matchAll(/\.(decorate\w*)\(\s*'(\w+)'/g)].map(([, how, name]) => `${how} ${name}`)
}

/** What a plugin reads of the app, requests and replies, in the same form. */
function used(source: string): readonly string[] {
  const accesses = [...source.matchAll(/\b(app|request|reply|this)\.(\w+)/g)].map(([, owner = '', name = '']) => ({ owner, name }))
  const destructured = [...source.matchAll(/const \{ ([^}]+) \} = (app|request|reply|this)\b(?!\.)/g)].flatMap(
    ([, names = '', owner = '']) => names.split(',').map((name) => ({ owner, name: name.split(':')[0]?.trim() ?? '' }))
  )
  return [...accesses, ...destructured].flatMap(({ owner, name }) => (addedBy[owner] ?? []).map((how) => `${how} ${name}`))
}

t.test('a plugin declares the plugins before it whose decorators it uses, or one that depends on them', async (t) => {
  const plugins = registered()
  const metas = new Map<string, Meta>()
  const owners = new Map<string, string>()
  for (const plugin of plugins) {
    metas.set(plugin, await metaOf(plugin))
    for (const decorator of decorated(sourceOf(`plugins/${plugin}.ts`))) owners.set(decorator, plugin)
  }
  const withDependencies = (plugin: string): readonly string[] => [
    plugin,
    ...(metas.get(plugin)?.dependencies ?? []).flatMap(withDependencies)
  ]
  for (const [i, plugin] of plugins.entries()) {
    t.equal(metas.get(plugin)?.name, plugin)
    const needed = used(sourceOf(`plugins/${plugin}.ts`)).flatMap((decorator) => owners.get(decorator) ?? [])
    // Fastify checks dependencies when it registers a plugin, so a later one, which is there once requests come, cannot be declared.
    const before = plugins.slice(0, i).filter((other) => needed.includes(other))
    const declared = withDependencies(plugin)
    t.same(
      before.filter((other) => !declared.includes(other)),
      [],
      plugin
    )
  }
  t.equal(owners.get('decorate store'), 'store', 'decorators are found')
  t.ok(used(sourceOf('plugins/checked-orders.ts')).includes('decorateRequest context'), 'and where they are used')
})
