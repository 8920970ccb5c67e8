// The hooks for Node's thread of hooks. There an ES module cannot be required (Node 22: ERR_METHOD_NOT_IMPLEMENTED), so the
// compiler is imported.
import { asModule, compile, isTypeScript, read } from './hooks.js'

export { initialize, resolve } from './hooks.js'

export async function load(url, context, next) {
  if (!isTypeScript(url)) return next(url, context)
  const file = read(url)
  return asModule(file.javascript ?? compile(file, (await import('ts-blank-space')).default))
}
