import type { FastifyRequest } from 'fastify'
import { type Caller, listingScopes, scopes } from '../domain/caller.ts'
import { keyNeeded } from '../http/credentials.ts'

/** The seller sees every order and sets its status, but changes no customer's order. */
export const toSeeOrder = { anyOf: listingScopes, guests: true } as const
export const toPlaceOrChange = { anyOf: ['order'], guests: true } as const
export const toWriteCatalogue = { anyOf: ['catalogue'] } as const
export const toFulfil = { anyOf: ['fulfilment'] } as const

/** Events and webhooks are for every key: they tell what the key may see. */
export const anyKey = { anyOf: scopes } as const

export type KeyHolder = Extract<Caller, { kind: 'key' }>

/** The caller of a route that asks for a key. @throws Problem `unauthenticated` */
export function keyHolder({ caller }: FastifyRequest): KeyHolder {
  if (caller.kind === 'key') return caller
  throw keyNeeded()
}
