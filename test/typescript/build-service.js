// Builds the service, and records where its helpers are (built-helpers.js).
import { renameSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { helpers } from '../../bundle.js'
import { compile } from '../cli/compile.ts'
import { record } from './built-helpers.js'

const whole = new URL(`${record.href}.${process.pid}`)
writeFileSync(whole, JSON.stringify({ folder: `${pathToFileURL(await compile())}/`, helpers }))
// Tests of another run may read it at this moment, and a rename shows them a whole one.
renameSync(whole, record)
