'use strict'
/**
 * Runs an entry with the code cache that make.js recorded during the build. Compiling the code again would take several times as
 * long. V8 rejects a cache that was made with other options, and compiles the code itself.
 */
const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')
const { constants, Script } = require('node:vm')
const { crc32 } = require('node:zlib')

/** What Node.js writes around the code of a module. */
const wrapper = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'].map(Buffer.from)

/**
 * A cache begins with a checksum of its source and of the Node.js that made it, because V8 checks neither well. It compares only the
 * length of the source, and overlooks what Node.js changes in V8: with a cache of Node.js 20.19.0, 20.20.2 ends with a segmentation fault.
 */
function checksum(source) {
  return crc32(source, crc32(`${process.version} ${process.arch}`))
}

function readCache(path, source) {
  try {
    const cache = readFileSync(path)
    return cache.readUInt32LE() === checksum(source) ? cache.subarray(4) : undefined
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
  // The code is ASCII (bundle.js). V8 keeps a string of Latin-1 outside of its heap.
  const script = new Script(source.latin1Slice(), { filename, cachedData, importModuleDynamically })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, __dirname)
}

module.exports.checksum = checksum
