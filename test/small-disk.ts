import { execFileSync } from 'node:child_process'
import { closeSync, fstatSync, ftruncateSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

interface SmallDisk {
  readonly folder: string
  /** Fills the disk, except for `room` bytes. */
  fill(room?: number): void
  /** Gives the room back. */
  clear(): void
  /** Mounts it anew, for reading only or for writing too. */
  remount(mode: 'ro' | 'rw'): void
}

/** A disk of its own, which goes with the test. Undefined where this user may not mount one. */
export function smallDisk(t: Test, mebibytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'tradepost-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'pipe' })
  } catch {
    rmdirSync(folder)
    return undefined
  }
  t.teardown(() => {
    execFileSync('umount', ['--lazy', folder])
    rmdirSync(folder)
  })
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill(room = 0) {
      const file = openSync(ballast, 'a')
      const block = Buffer.alloc(4096)
      try {
        for (;;) writeSync(file, block)
      } catch {
        // No more fits.
        ftruncateSync(file, Math.max(fstatSync(file).size - room, 0))
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    remount: (mode) => execFileSync('mount', ['-o', `remount,${mode}`, folder])
  }
}
