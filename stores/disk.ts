/** Explains an error of the file system to the operator. */

import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

const freeSpace = 'free some space and try again'

/** Reasons by error code (https://man7.org/linux/man-pages/man3/errno.3.html). */
const reasons: Readonly<Record<string, string>> = {
  ENOSPC: `the disk is full; ${freeSpace}`,
  EDQUOT: `the user's quota of the disk is used up; ${freeSpace}`,
  EROFS: 'the disk is mounted read-only',
  EACCES: 'this user has no permission',
  EPERM: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'there is a file in the place of its folder',
  ENOENT: 'its folder does not exist',
  EIO: 'the disk has an error'
}

/** The reason why a file cannot be read or written; undefined if the error is not from the file system. */
export function diskReason(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? reasons[String(error.code)] : undefined
}

export const diskIsFull = reasons['ENOSPC']

/** The free space that a small write needs, in bytes. */
const minFreeBytes = 65_536

/** Whether the disk of a file is full. This finds the cause of an error that does not give one. */
export function isDiskFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize < minFreeBytes
  } catch {
    return false
  }
}
