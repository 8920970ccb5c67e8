/** Whether a native addon could not be loaded. */
export function isLoadError(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_DLOPEN_FAILED'
}

/** Says in one line what to do. */
export function explainLoadError({ message }: Error): string {
  const line = message.replace(/\s+/g, ' ')
  return `A package cannot be loaded. If it was installed for another Node.js than this one (${process.version}), run npm ci. ${line}`
}
