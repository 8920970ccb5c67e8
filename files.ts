/** Finds the files of the service. Only this module may use its own URL, because a build moves code between files (bundle.js). */

/** The folder of the sources, or of the build, which has the same folders. */
const top = new URL('./', import.meta.url)
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))

/** @param path of a file or folder, from the top folder */
export function serviceFile(path: string): URL {
  return new URL(path, top)
}

/**
 * A module that a thread or process starts with.
 * @param path from the top folder, without the extension. bundle.js lists all of them
 */
export function entryModule(path: string): URL {
  return serviceFile(`${path}${extension}`)
}

/** package.json is beside the sources, or one folder above the built files. */
export const manifestFile = serviceFile(extension === '.ts' ? 'package.json' : '../package.json')
