// `npm start`: builds what has changed, then is the service, in the same process: another one would cost time at each start.
import './build.js'

await import('./dist/server.js')
