/** Whose a file is, found out from its bytes: SQLite itself would change a file of somebody else by looking into it. */

import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreOpenError } from '../../domain/errors.ts'
import { diskReason } from '../disk.ts'

/** Names a Tradepost database in its file header (PRAGMA application_id): the bytes of "trdp". */
export const applicationId = 0x74726470

/** Orders and digests of keys are nobody's but the shop's. */
const ownOnly = { file: 0o600, folder: 0o700 } as const

/**
 * Makes the file, and its folder, where there is none; only this user may read them. What is there already is left as it
 * is. SQLite gives `-wal` and `-shm` the mode of the file.
 * @throws StoreOpenError, or the file system's error
 */
export function makeFile(file: string): void {
  const folder = dirname(file)
  try {
    mkdirSync(folder, { recursive: true, mode: ownOnly.folder })
  } catch (error) {
    const isFile = error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOTDIR')
    const reason = isFile ? 'there is a file in its place' : diskReason(error)
    throw reason === undefined ? error : new StoreOpenError(`the folder ${folder} cannot be made: ${reason}`)
  }
  if (!existsSync(file)) closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, ownOnly.file))
}

/** A new and empty file that only this user may read. @throws the file system's error, also when it is there */
export function makeNewFile(file: string): void {
  closeSync(openSync(file, 'wx', ownOnly.file))
}

/**
 * The files that were looked at. To close a file that SQLite has open in this process drops SQLite's locks on it
 * (https://sqlite.org/howtocorrupt.html, section 2.2), so none is opened here again.
 */
const recognised = new Set<string>()

/**
 * Reads a file without SQLite, and changes nothing.
 * @throws StoreOpenError when it is neither empty nor a database of Tradepost; the file system's error
 */
export function refuseForeign(file: string): void {
  const stats = statSync(file, { bigint: true })
  if (stats.isDirectory()) throw new StoreOpenError(`${file} is a folder: set DATABASE_URL to a file, such as sqlite:${file}/tradepost.db`)
  if (!stats.isFile()) throw new StoreOpenError(`${file} is not a regular file: set DATABASE_URL to one`)
  const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
  if (recognised.has(identity)) return
  const descriptor = openSync(file, constants.O_RDONLY)
  try {
    refuse(descriptor, file)
  } finally {
    closeSync(descriptor)
  }
  recognised.add(identity)
}

function refuse(descriptor: number, file: string): void {
  if (fstatSync(descriptor).size === 0) return
  const page = read(descriptor, 0, firstPage.length)
  if (page.toString('latin1', 0, magic.length) !== magic) {
    throw new StoreOpenError(`${file} is not a SQLite database: correct DATABASE_URL, or restore a backup`)
  }
  if (isOurs(page)) return
  const logged = loggedFirstPages(`${file}-wal`)
  if (logged.some(isOurs) || (isEmpty(page) && logged.length === 0)) return
  throw new StoreOpenError(`${file} is a database of something else, not of Tradepost: set DATABASE_URL to another file`)
}

// https://sqlite.org/fileformat2.html, sections 1.3 and 1.6: of the first page, up to the header of its b-tree.
const magic = 'SQLite format 3\0'
const firstPage = { length: 108, applicationId: 68, kind: 100, cells: 103 } as const
const leaf = 0x0d

function isOurs(page: Buffer): boolean {
  return page.length === firstPage.length && page.readUInt32BE(firstPage.applicationId) === applicationId
}

/** Whether it has neither tables nor an owner: no more than a file that was just made. */
function isEmpty(page: Buffer): boolean {
  if (page.length < firstPage.length || page.readUInt32BE(firstPage.applicationId) !== 0) return false
  return page[firstPage.kind] === leaf && page.readUInt16BE(firstPage.cells) === 0
}

// Section 4 of the same.
const log = { header: 32, pageSize: 8, salts: 16, saltsLength: 8 } as const
const frame = { header: 24, page: 0, salts: 8 } as const

/** The first page as the log has it: the file of a database that was never closed may say nothing of itself yet. */
function loggedFirstPages(path: string): Buffer[] {
  if (!existsSync(path)) return []
  const descriptor = openSync(path, constants.O_RDONLY)
  try {
    const header = read(descriptor, 0, log.header)
    if (header.length < log.header) return []
    const salts = header.subarray(log.salts, log.salts + log.saltsLength)
    const step = frame.header + header.readUInt32BE(log.pageSize)
    const pages: Buffer[] = []
    for (let at: number = log.header; ; at += step) {
      const head = read(descriptor, at, frame.header)
      if (head.length < frame.header || !head.subarray(frame.salts, frame.salts + log.saltsLength).equals(salts)) return pages
      if (head.readUInt32BE(frame.page) === 1) pages.push(read(descriptor, at + frame.header, firstPage.length))
    }
  } finally {
    closeSync(descriptor)
  }
}

function read(descriptor: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, at))
}
