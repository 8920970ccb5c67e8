/**
 * Milliseconds since the epoch, as the clock was set when this thread started. A clock that is set later does not change it, so that
 * it prolongs no wait.
 */
export function steadyNow(): number {
  return Math.round(performance.timeOrigin + performance.now())
}
