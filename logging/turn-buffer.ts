import type { DestinationStream } from 'pino'

/**
 * Writes the log lines of one turn of the event loop at once, because a write takes longer than formatting a line. The
 * process writes the rest when it exits. A kill loses the lines of the current turn.
 */
export function bufferTurn(to: DestinationStream & { finish?(): void }): DestinationStream & { flushSync(): void } {
  let lines = ''
  const flushSync = () => {
    if (lines === '') return
    const written = lines
    lines = ''
    to.write(written)
  }
  process.once('exit', () => {
    flushSync()
    to.finish?.()
  })
  return {
    write(line) {
      if (lines === '') setImmediate(flushSync)
      lines += line
    },
    flushSync
  }
}
