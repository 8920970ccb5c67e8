// Tests that run the service from its sources start hundreds of its helpers: its threads, and the process that reads documents. The
// helpers are those of a build, because from the sources each would take several times as long to start. No coverage is noted in them.
import { readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)
/** What build-service.js wrote: the folder of the build, and the paths of its helpers without the extension. */
export const record = new URL('.tap/helpers.json', root)

/** @returns the built module of each helper by the URL of its source. None where tap has not made the build, which sets BUILT_HELPERS (.taprc) */
export function builtHelpers() {
  if (process.env.BUILT_HELPERS === undefined) return new Map()
  const { folder, helpers } = JSON.parse(readFileSync(record, 'utf8'))
  return new Map(helpers.map((path) => [new URL(`${path}.ts`, root).href, new URL(`${path}.js`, folder).href]))
}
