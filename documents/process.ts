/**
 * The entry of the document process. Work whose cost the sender decides runs here: XML guard, libxml2, schema, faults,
 * large representations.
 *
 * It is a process and not a thread for two reasons. Terminating a thread inside libxmljs2 aborts the whole process
 * (libxmljs2 0.37.0: `XmlSyntaxError::PushToArray` calls ToLocalChecked, which aborts while V8 is terminating). And a
 * crash of libxml2 or a full heap ends only this process.
 */

import { Socket } from 'node:net'
import { collectGarbage, garbageCollector } from '../garbage.ts'
import type { FinishedJob, FromProcess, ToProcess } from './job.ts'
import { channelDescriptor, receiveMessages, sendMessage } from './messages.ts'
import { makeRunner } from './run.ts'

/** Outcomes are sent in batches. None waits longer than this for its batch, in milliseconds. */
const maxBatchDelay = 4

const run = makeRunner(collectGarbage)

const tidy = garbageCollector(Number(process.argv[2] ?? Number.POSITIVE_INFINITY))

const channel = new Socket({ fd: channelDescriptor })

function send(message: FromProcess): void {
  sendMessage(channel, message)
}

receiveMessages(channel, (jobs: ToProcess) => {
  let outcomes: FinishedJob[] = []
  let since = performance.now()
  for (const outcome of run(jobs)) {
    outcomes.push(outcome)
    if (performance.now() - since < maxBatchDelay) continue
    send(outcomes)
    outcomes = []
    since = performance.now()
  }
  if (outcomes.length > 0) send(outcomes)
  // By then nothing refers to the jobs any more.
  setImmediate(tidy)
})

// A terminal sends its signals to both processes. The serving process decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
// The serving process has ended.
channel.on('error', () => undefined).on('close', () => process.exit(0))

send('ready')
