import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { type Config, day } from '../config.ts'

/** Milliseconds between two checks for events that are too old. */
const interval = 10_000

/** The most events that are deleted in one transaction, so that no other write waits for long. */
const mostAtOnce = 500

/** Deletes events older than EVENTS_KEEP. Every replica does this. The first to check deletes them. */
export default fp(
  async function eventRetention(app: FastifyInstance, { config }: { readonly config: Config }) {
    let timer: NodeJS.Timeout | undefined
    let isClosing = false
    let pruning = Promise.resolve()

    async function prune(): Promise<void> {
      try {
        const before = Date.now() - config.EVENTS_KEEP * day
        while (!isClosing && (await app.store.pruneEvents(before, mostAtOnce)) > 0);
      } catch (error) {
        app.log.warn({ err: error }, 'old events were not deleted')
      }
      pruneLater()
    }

    function pruneLater(): void {
      if (!isClosing) timer = setTimeout(() => (pruning = prune()), interval).unref()
    }

    app.addHook('onReady', async () => pruneLater())
    app.addHook('preClose', async () => {
      isClosing = true
      clearTimeout(timer)
      await pruning
    })
  },
  { name: 'event-retention', fastify: '5.x', dependencies: ['store'] }
)
