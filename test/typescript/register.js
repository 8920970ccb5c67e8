// Lets Node run the TypeScript of this project: `node --import=./test/typescript/register.js FILE.ts`. It checks no types.
// The tests run by it in place of tap's own compiler, which keeps nothing and so takes seconds in each process.
import module from 'node:module'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import * as hooks from './hooks.js'

// Chosen as tap chooses for its own hooks, which have to come after these: they note what was loaded, for the coverage.
const [major, minor] = process.versions.node.split('.').map(Number)
const inThread = typeof module.registerHooks === 'function' && (major > 25 || (major === 25 && minor >= 1) || (major === 24 && minor >= 13))

const isTest = isMainThread && !hooks.isBuilt(pathToFileURL(process.argv[1] ?? '').href)

if (inThread) {
  hooks.initialize(isTest)
  module.registerHooks({ resolve: hooks.resolve, load: hooks.load })
} else module.register('./thread-hooks.js', import.meta.url, { data: isTest })

// A process that is started by this one, as the document process is, needs it too; also one in another folder.
const own = `--import=${import.meta.url}`
const given = (process.env.NODE_OPTIONS ?? '').replace('--import=./test/typescript/register.js', own)
process.env.NODE_OPTIONS = given.includes(own) ? given : `${own} ${given}`
