'use strict'
/**
 * Runs an entry with the code cache that make.js recorded during the build. Compiling the code again would take several times as
 * long. V8 rejects a cache of another version, or of other options of V8, and compiles the code itself.
 */
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { constants, Script } = require('node:vm')
const { crc32 } = require('node:zlib')

/** What Node.js writes around the code of a module. */
const wrapper = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'].map(Buffer.from)

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

/** @param {string} name of a file in this folder, without the extension */
module.exports = function load(name) {
  const filename = join(__dirname, `${name}.cjs`)
  // Node.js maps the lines of a module to its sources, but not those of a script.
  if (process.sourceMapsEnabled) return require(filename)
  const source = Buffer.concat([wrapper[0], readFileSync(filename), wrapper[1]])
  const cachedData = readCache(join(__dirname, `${name}.cache`), source)
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
  // The code is ASCII. V8 keeps such a string outside of its heap.
  const script = new Script(source.latin1Slice(), { filename, cachedData, importModuleDynamically })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, __dirname)
}
