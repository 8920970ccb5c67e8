const never = new Int32Array(new SharedArrayBuffer(4))

/** Keeps the event loop from going on for so many milliseconds, as long work does, but without using the processor. */
export function blockThread(milliseconds: number): void {
  Atomics.wait(never, 0, 0, milliseconds)
}
