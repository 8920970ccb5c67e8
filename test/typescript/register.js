// Lets Node run the TypeScript of this project: `node --import=./test/typescript/register.js FILE.ts`. It checks no types.
// The tests run by it in place of tap's own compiler, which keeps nothing and so takes seconds in each process.
import module from 'node:module'
import * as hooks from './hooks.js'

// Chosen as tap chooses for its own hooks, which have to come after these: they note what was loaded, for the coverage.
const [major, minor] = process.versions.node.split('.').map(Number)
const inThread = typeof module.registerHooks === 'function' && (major > 25 || (major === 25 && minor >= 1) || (major === 24 && minor >= 13))

if (inThread) module.registerHooks(hooks)
else module.register('./hooks.js', import.meta.url)

// The option that .taprc gives is a path from the root of the project; a test may start a process in another folder.
const { NODE_OPTIONS: given } = process.env
if (given) process.env.NODE_OPTIONS = given.replace('--import=./test/typescript/register.js', `--import=${import.meta.url}`)
