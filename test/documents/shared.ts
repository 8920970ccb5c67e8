import { Documents } from '../../documents/documents.ts'

/** The documents of all services of a test process. They share the document processes, because to start one takes long. */
export const sharedDocuments = new Documents(() => undefined)
