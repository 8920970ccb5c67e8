/**
 * Limits far above the needs of any document of this service. Lengths are in UTF-16 code units. libxml2 2.9.9 takes seconds for 40,000
 * attributes on one element. The longest text of a schema, 4,000 characters, takes 40 KB if all are written as references.
 */
export const documentLimits = { tag: 8 * 1024, text: 64 * 1024, depth: 100 } as const
