import { Readable } from 'node:stream'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import fp from 'fastify-plugin'
import type { Product } from '../domain/product.ts'
import { linkField } from '../http/link-field.ts'
import { noParameters } from '../http/query-schema.ts'
import { downloadLimits } from '../plugins/sharing.ts'
import { type CatalogueRepresentation, catalogueRepresentations } from '../representations/catalogue.ts'
import { uris } from '../representations/links.ts'
import type { Context } from '../representations/representation.ts'
import type { RoutePlugin } from './route.ts'

const catalogue: RoutePlugin = async (app, { config }) => {
  const { variants, validators } = catalogueRepresentations
  const base = config.BASE_URL.path
  let turn: Promise<void> = Promise.resolve()

  app.get(
    '/catalogue',
    {
      schema: { querystring: noParameters },
      config: { represents: catalogueRepresentations, caching: 'catalogue', describes: getCatalogue }
    },
    async (request, reply) => {
      if (reply.revalidate(validators(await request.read((store) => store.revision())))) return reply
      const chosen = variants.find((variant) => variant === request.representation) ?? variants[0]
      reply.header('link', linkField(catalogueRepresentations, chosen, [], { uri: uris(base).catalogue, base }))
      if (request.method === 'HEAD') return reply.send(Readable.from([]))
      reply.acquireCatalogueDownload()
      return reply.send(
        Readable.from(
          write(request.allProducts(), chosen, request.context(), () => waitForTurn(request.network)),
          { highWaterMark: 1 }
        )
      )
    }
  )

  /**
   * Waits until each other download has had a turn of the event loop, and then for the address's own turn. A fast client would
   * otherwise get all batches in one turn, and others would wait.
   */
  async function waitForTurn(network: string): Promise<void> {
    turn = turn.then(() => turnOfTheLoop())
    await turn
    await new Promise<void>((resolve) => app.schedule(network, resolve))
  }
}

/**
 * Reads the next batch when the client has taken the one before. A client that disconnects ends the reading. Batches are sent as bytes,
 * because a string of wide characters takes several times the memory while it waits for the client.
 */
async function* write(
  batches: AsyncIterable<readonly Product[]>,
  { opening, write, closing }: CatalogueRepresentation,
  context: Context,
  waitForTurn: () => Promise<void>
): AsyncGenerator<Buffer, void, undefined> {
  if (opening !== '') yield Buffer.from(opening)
  for await (const batch of batches) {
    yield Buffer.from(write(batch, context))
    await waitForTurn()
  }
  if (closing !== '') yield Buffer.from(closing)
}

const getCatalogue = {
  id: 'getCatalogue',
  summary: 'The whole catalogue as one document',
  notes:
    'Streamed. A product that exists during the whole download is in it exactly once. If it changes during the download, it is sent either as it was before or as it is after the change, so the entity tag is weak. ' +
    `The document can be imported again. One caller can have ${downloadLimits.perCaller} downloads under way.`,
  answers: { 200: 'Every product there is, by id.' }
} as const

export default fp(catalogue, { name: 'catalogue', encapsulate: true, dependencies: ['representation', 'scheduling', 'sharing'] })
