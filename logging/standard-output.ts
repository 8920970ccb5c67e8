import { type DestinationStream, destination } from 'pino'

/** Bytes of lines that may wait until standard output is read. Lines beyond that are dropped. */
const mostWaiting = 4 * 1024 * 1024

/** Milliseconds until lines are written again after an error. A new line tries sooner. */
const pause = 100

/** The most attempts of an exiting process to write the remaining lines. */
const lastTries = 10

export interface StandardOutput extends DestinationStream {
  /** Writes the lines that wait, before the process exits. Gives up after a second if nobody reads. */
  finish(): void
}

/**
 * Standard output that never blocks or ends the service, even if nobody reads the pipe or the disk of the file is full. Lines
 * wait up to a limit, and a later line says how many were dropped.
 *
 * pino's own destination would block the thread until the pipe has room, and end the process with a stack overflow after some
 * minutes. The pipe itself must not block: Node sees to that when `process.stdout` is first used.
 */
export function standardOutput(): StandardOutput {
  const out = destination({ dest: process.stdout.fd, sync: true, maxLength: mostWaiting, retryEAGAIN: () => false })
  let timer: NodeJS.Timeout | undefined
  let hasFailed = false
  let dropped = 0
  out.on('error', ({ code }: NodeJS.ErrnoException) => {
    hasFailed = true
    // The reader has closed the pipe.
    if (code === 'EPIPE') out.write = () => true
    else if (!timer) timer = setTimeout(retry, pause).unref()
  })
  out.on('drop', (lines: string) => (dropped += lines.split('\n').length - 1))
  out.on('drain', () => {
    if (dropped === 0) return
    const msg = `${dropped} lines of the log were dropped, because nobody read standard output or its disk was full`
    dropped = 0
    out.write(`${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, msg })}\n`)
  })

  function retry(): void {
    timer = undefined
    hasFailed = false
    // Every write also writes the lines that wait.
    out.write('')
  }

  return {
    write: (lines) => void out.write(lines),
    finish() {
      for (let tries = 0; tries < lastTries; tries++) {
        retry()
        if (!hasFailed) return
        // Nothing else runs while a process exits.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
      }
    }
  }
}
