import type { Shop } from '../build.ts'

type Verb = (...args: unknown[]) => Promise<unknown>

/** The verbs of the store, which can be replaced, and one of them. */
function verbOf({ store }: Shop, name: string): { readonly verbs: Record<string, Verb>; readonly run: Verb } {
  const verbs = store as unknown as Record<string, Verb>
  const run = verbs[name]
  if (!run) throw new Error(`the store has no verb ${name}`)
  return { verbs, run }
}

/** Holds the first calls of a verb of the store until `letGo`. */
export function hold(shop: Shop, verb: string, count: number) {
  const { verbs, run } = verbOf(shop, verb)
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  let calls = 0
  verbs[verb] = async (...args) => {
    if (calls++ < count) await held
    return run(...args)
  }
  return { letGo, calls: () => calls }
}

/** Counts the calls of a verb of the store that are in progress at once, but for those with one of these arguments. */
export function countCalls(shop: Shop, verb: string, except: readonly unknown[] = []) {
  const { verbs, run } = verbOf(shop, verb)
  let [running, most] = [0, 0]
  verbs[verb] = async (...args) => {
    if (args.some((argument) => except.includes(argument))) return run(...args)
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    try {
      return await run(...args)
    } finally {
      running--
    }
  }
  return { most: () => most }
}
