'use strict'
/**
 * Runs the code of an entry with what V8 compiled of it when the service was built (make.js), which takes a fraction of the
 * time. V8 rejects a cache of another version, or of other options of V8, and compiles the code itself.
 */
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { constants, Script } = require('node:vm')
const { crc32 } = require('node:zlib')

/** The address of a file at the top of the build, since files.ts finds all others from there. */
const url = pathToFileURL(join(__dirname, '..', 'server.js')).href

/** V8 checks only the length of the source, so a cache begins with the checksum of its source. */
function readCache(path, source) {
  try {
    const cache = readFileSync(path)
    return cache.readUInt32LE() === crc32(source) ? cache.subarray(4) : undefined
  } catch {
    // There is no cache, or it is damaged.
    return undefined
  }
}

/** @param {string} entry the path of a module in the list of bundle.js, without the extension */
module.exports = function load(entry) {
  const filename = join(__dirname, `${entry}.cjs`)
  const source = readFileSync(filename)
  const cachedData = readCache(join(__dirname, `${entry}.cache`), source)
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  // The code is ASCII. V8 keeps such a string outside of its heap.
  const script = new Script(source.latin1Slice(), { filename, cachedData, importModuleDynamically })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, dirname(filename), url)
}
