import type { FastifyPluginAsync, RawServerDefault } from 'fastify'
import type { Config } from '../config.ts'
import type { DocumentTypeProvider } from '../plugins/documents.ts'

export interface RouteOptions {
  readonly config: Config
}

/** One resource: its routes, under the service's base path. */
export type RoutePlugin = FastifyPluginAsync<RouteOptions, RawServerDefault, DocumentTypeProvider>
