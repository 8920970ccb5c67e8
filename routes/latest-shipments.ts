import type { FastifyRequest } from 'fastify'
import type { Order } from '../domain/order.ts'
import { mayHaveShipments } from '../domain/shipping.ts'

/** The most shipments on the page of an order. */
const mostShown = 10

/** Loads the latest shipments for the order's page. Other representations do not show them. */
export async function showShipments(request: FastifyRequest, { id, status }: Order): Promise<void> {
  if (!request.isPage || !mayHaveShipments(status)) return
  const { items: shipments } = await request.read((store) => store.shipments(id, { limit: mostShown }))
  request.showOnPage({ shipments })
}
