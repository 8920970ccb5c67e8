import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import type { Store } from '../domain/store.ts'

declare module 'fastify' {
  interface FastifyInstance {
    store: Store
  }
}

/** Makes the store available to routes, and closes it with the service. */
export default fp(
  async function store(app: FastifyInstance, options: { store: Store }) {
    app.decorate('store', options.store)
    app.addHook('onClose', () => options.store.close())
  },
  { name: 'store', fastify: '5.x' }
)
