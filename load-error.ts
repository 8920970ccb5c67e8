/** Whether a native addon could not be loaded. */
export function isLoadError(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_DLOPEN_FAILED'
}

/** Node's message, of several sentences, about an addon that was compiled for another version. */
const otherVersion = /^The module '([^']*)'\s+was compiled against a different Node\.js version/

/** Says in one line what to do. */
export function explainLoadError({ message }: Error): string {
  const [, module] = otherVersion.exec(message) ?? []
  if (module === undefined) return `A package cannot be loaded: ${message.replace(/\s+/g, ' ')}. Install the packages again: npm ci`
  return `The packages were installed for another Node.js than this one (${process.version}): run npm ci, or use that Node.js (${module})`
}
