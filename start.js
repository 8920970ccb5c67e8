// `npm start` builds the service if it has changed, and runs it in the same process, since a second process would start slower.
import { keepForThisProcess } from './build.js'

keepForThisProcess()
await import('./dist/server.js')
