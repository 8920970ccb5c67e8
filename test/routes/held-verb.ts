import type { Shop } from '../build.ts'

/** Holds the first calls of a verb of the store until `letGo`. */
export function hold({ store }: Shop, verb: string, count: number) {
  const verbs = store as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  const run = verbs[verb]
  if (!run) throw new Error(`the store has no verb ${verb}`)
  let letGo = () => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  let calls = 0
  verbs[verb] = async (...args) => {
    if (calls++ < count) await held
    return run(...args)
  }
  return { letGo, calls: () => calls }
}
