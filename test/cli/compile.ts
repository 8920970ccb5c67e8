import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../../', import.meta.url))
const folders = ['cli', 'domain', 'plugins', 'representations', 'routes', 'samples', 'schemas', 'stores']
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root)

/**
 * Compiles the service and its command, without checking types: a loader that does it in every process that
 * is started would take seconds each time.
 * @param to a new folder inside the repository, so that the dependencies are found
 * @returns the folder with `cli.js` and `server.js`
 */
export function compile(to: string): string {
  const entries = readdirSync(root).filter((name) => name.endsWith('.ts'))
  const inside = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length))
  )
  for (const path of [...entries, ...inside]) {
    const target = join(to, 'dist', path)
    mkdirSync(dirname(target), { recursive: true })
    if (path.endsWith('.ts')) writeFileSync(target.replace(/\.ts$/, '.js'), transpile(path))
    else copyFileSync(join(root, path), target)
  }
  copyFileSync(join(root, 'package.json'), join(to, 'package.json'))
  return join(to, 'dist')
}

function transpile(path: string): string {
  const { sourceMap: _map, ...rest } = options
  // Seeing one file only, it cannot tell by package.json that this is a module.
  const esm = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
  const compilerOptions = { ...rest, ...esm, noEmit: false, inlineSourceMap: true, inlineSources: true }
  return ts.transpileModule(readFileSync(join(root, path), 'utf8'), { fileName: path, compilerOptions }).outputText
}
