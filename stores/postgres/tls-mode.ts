/** The modes of TLS that the driver takes as `verify-full`, with a warning of nine lines that a later version may not do so. */
const modes = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g

/**
 * The URL of a database, with `verify-full` in place of a mode of TLS that means the same to the driver. So the service prints no warning,
 * and checks no less when the driver changes. With `uselibpqcompat`, the modes mean what they mean to psql, and stay.
 */
export function withCheckedTls(url: string): string {
  return /[?&]uselibpqcompat=true/.test(url) ? url : url.replace(modes, '$1verify-full')
}
