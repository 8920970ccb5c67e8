import { fileURLToPath } from 'node:url'

/** The folder of documents that buyers really sent, and of the DTDs. It is no part of the repository: it names people. */
export const dialects = process.env['DIALECTS'] ?? fileURLToPath(new URL('../../../../shared/dialects', import.meta.url))
