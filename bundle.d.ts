/** Writes the service as bundles to a folder. It checks no types. */
export function bundle(folder: string): Promise<void>

export const helpers: readonly string[]
