/** Finds out from a file's bytes whether it is a database of Tradepost. SQLite could change a foreign file by opening it. */

import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreOpenError } from '../../domain/errors.ts'
import { diskReason } from '../disk.ts'

/** Names a Tradepost database in its file header (PRAGMA application_id): the bytes of "trdp". */
export const applicationId = 0x74726470

/** The file holds orders and digests of keys, so only the service's user may read it. */
const ownOnly = { file: 0o600, folder: 0o700 } as const

/**
 * Makes a folder and the folders above it. `mkdirSync` can do this too, but it never returns where a file system answers
 * ENOENT inside a folder that exists, as /proc does (Node 20, 22 and 24).
 */
function makeFolder(folder: string): void {
  if (isFolder(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, ownOnly.folder)
  } catch (error) {
    // Another process may have made it just now.
    if (!isFolder(folder)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Makes the file and its folder if they do not exist. Only this user may read new ones. SQLite gives `-wal` and `-shm` the
 * mode of the file.
 * @throws StoreOpenError, or the file system's error
 */
export function makeFile(file: string): void {
  const folder = dirname(file)
  try {
    makeFolder(folder)
  } catch (error) {
    const isFile = error instanceof Error && 'code' in error && (error.code === 'EEXIST' || error.code === 'ENOTDIR')
    const reason = isFile ? 'there is a file in its place' : diskReason(error)
    throw reason === undefined
      ? error
      : new StoreOpenError(`the folder ${folder} cannot be made: ${reason}; set DATABASE_URL to another path`)
  }
  if (!existsSync(file)) closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, ownOnly.file))
}

/** Makes an empty file that only this user may read. @throws the file system's error, also if the file exists */
export function makeNewFile(file: string): void {
  closeSync(openSync(file, 'wx', ownOnly.file))
}

/**
 * The files that were checked before. Closing a file that SQLite has open in this process would drop SQLite's locks on it
 * (https://sqlite.org/howtocorrupt.html, section 2.2), so no file is opened here twice.
 */
const recognised = new Set<string>()

/**
 * Checks a file without SQLite, and without changing it.
 * @param access `write` also checks that the file may be written: SQLite opens a read-only file without an error, and fails at the
 *   first write
 * @throws StoreOpenError if it is neither empty nor a database of Tradepost, or the file system's error
 */
export function refuseForeign(file: string, access: 'read' | 'write'): void {
  const stats = statSync(file, { bigint: true })
  if (stats.isDirectory()) throw new StoreOpenError(`${file} is a folder: set DATABASE_URL to a file, such as sqlite:${file}/tradepost.db`)
  if (!stats.isFile()) throw new StoreOpenError(`${file} is not a regular file: set DATABASE_URL to one`)
  const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
  if (recognised.has(identity)) return
  const descriptor = openSync(file, access === 'write' ? constants.O_RDWR : constants.O_RDONLY)
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
  if (page.length < firstPage.length) throw new StoreOpenError(`${file} is damaged, because it is cut short: restore a backup`)
  throw new StoreOpenError(`${file} is a database of something else, not of Tradepost: set DATABASE_URL to another file`)
}

// Offsets in the first page, from https://sqlite.org/fileformat2.html, sections 1.3 and 1.6.
const magic = 'SQLite format 3\0'
const firstPage = { length: 108, applicationId: 68, kind: 100, cells: 103 } as const
const leaf = 0x0d

function isOurs(page: Buffer): boolean {
  return page.length === firstPage.length && page.readUInt32BE(firstPage.applicationId) === applicationId
}

/** Whether a database has neither tables nor an application id, like one that was just made. */
function isEmpty(page: Buffer): boolean {
  if (page.length < firstPage.length || page.readUInt32BE(firstPage.applicationId) !== 0) return false
  return page[firstPage.kind] === leaf && page.readUInt16BE(firstPage.cells) === 0
}

// The log's format, from section 4 of the same document.
const log = { header: 32, pageSize: 8, salts: 16, saltsLength: 8 } as const
const frame = { header: 24, page: 0, salts: 8 } as const

/** The versions of the first page in the log. If a database was never closed, its file may not have the application id yet. */
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
