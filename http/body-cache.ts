import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'

/** The cached part of a response: everything except the headers that its validators determine. */
export interface Body {
  readonly bytes: Buffer
  readonly link: string | undefined
}

export interface BodyCache {
  /** @param key identifies one representation of one version */
  get(key: string): Body | undefined
  set(key: string, body: Body): void
}

/** Longer bodies are sent as bytes and not as strings, because plugins/sending counts the unsent bytes of slow readers. */
export const maxStringBody = 16 * 1024

/** The approximate size of an entry's bookkeeping, in bytes. */
const overhead = 512

/** The bytes of each of the two caches of representations, of bodies and of whole responses: half of BODY_CACHE. */
export function cacheShare({ BODY_CACHE }: Pick<Config, 'BODY_CACHE'>): number {
  return Math.ceil(BODY_CACHE / 2)
}

/** A cache of limited bytes; undefined for no bytes. Keys contain the version read from the store, so no replica ever sends a stale body. */
export function makeBodyCache(maxBytes: number): BodyCache | undefined {
  if (maxBytes === 0) return undefined
  return new LRUCache<string, Body>({
    maxSize: maxBytes,
    maxEntrySize: Math.max(1, Math.floor(maxBytes / 16)),
    sizeCalculation: ({ bytes, link = '' }, key) => bytes.length + 2 * (link.length + key.length) + overhead
  })
}
