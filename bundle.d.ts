/** Writes the service as bundles to a folder. It checks no types. */
export function bundle(folder: string): Promise<void>

/** The modules of the threads and processes that the service starts, from the top folder, without the extension. */
export const helpers: readonly string[]
