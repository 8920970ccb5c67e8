'use strict'
/**
 * This file is loaded before a service that make.js runs, and in each of its threads and processes. When make.js asks for the
 * cache, it writes what V8 has compiled of each entry.
 */
const { existsSync, renameSync, writeFileSync } = require('node:fs')
const v8 = require('node:v8')
const vm = require('node:vm')
const { checksum } = require('./load.cjs')

// biome-ignore lint/style/noProcessEnv: no process but those of make.js has this variable
const request = process.env.CODE_CACHE_REQUEST
/** Milliseconds between two checks for the file by which make.js asks for the cache. */
const interval = 20

function write(script, source, path) {
  const header = Buffer.alloc(4)
  header.writeUInt32LE(checksum(Buffer.from(source, 'latin1')))
  writeFileSync(`${path}.partial`, Buffer.concat([header, script.createCachedData()]))
  renameSync(`${path}.partial`, path)
}

// V8 rejects a cache that was made with other options. The service sets options after its start, so these calls do nothing here.
v8.setFlagsFromString = () => undefined
vm.runInNewContext = () => () => undefined

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options)
    const timer = setInterval(() => {
      if (!existsSync(request)) return
      clearInterval(timer)
      write(this, source, options.filename.replace(/\.cjs$/, '.cache'))
    }, interval).unref()
  }
}
