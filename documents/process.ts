/**
 * The entry of the document process: all that a sender decides the cost of (guard, libxml2, schema, faults, large
 * representations) runs here. It is a process and not a thread, since to end a thread inside libxmljs2 ends the whole
 * process (libxmljs2 0.37.0: `XmlSyntaxError::PushToArray` calls ToLocalChecked, which aborts while V8 is terminating);
 * and a flaw of libxml2, or a full heap, ends no more than this process.
 */

import type { FromProcess, Outcome, ToProcess } from './job.ts'
import { makeRunner } from './run.ts'

/** Outcomes are sent together, but none waits for longer than this, in milliseconds. */
const longestWait = 4

const run = makeRunner()

function send(message: FromProcess): void {
  process.send?.(message)
}

process.on('message', (jobs: ToProcess) => {
  let outcomes: Outcome[] = []
  let since = performance.now()
  for (const job of jobs) {
    outcomes.push(run(job))
    if (performance.now() - since < longestWait) continue
    send(outcomes)
    outcomes = []
    since = performance.now()
  }
  if (outcomes.length > 0) send(outcomes)
})

// The serving process decides when this one ends: a terminal sends its signals to both.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.on('disconnect', () => process.exit(0))

send('ready')
