/** Finds the files of the service. Only this module may use its own URL, because a build moves code between files (bundle.js). */

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

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

/**
 * Returns the code of a thread that may start long after the service. Its version must be that of the service, even if the files have
 * been replaced since. So the code of a build is read now. From the sources, the result is the URL of a module.
 * @param path as for `entryModule`
 */
export function entryCode(path: string): string | URL {
  if (extension === '.ts') return entryModule(path)
  const filename = fileURLToPath(serviceFile(`code/${path.replaceAll('/', '-')}.cjs`))
  const [name, folder] = [filename, dirname(filename)].map((value) => JSON.stringify(value))
  const parameters = 'exports, require, module, __filename, __dirname'
  const values = `{}, require('node:module').createRequire(${name}), { exports: {} }, ${name}, ${folder}`
  return `(function (${parameters}) { ${readFileSync(filename, 'latin1')}\n})(${values})`
}

/** package.json is beside the sources, or one folder above the built files. */
export const manifestFile = serviceFile(extension === '.ts' ? 'package.json' : '../package.json')
