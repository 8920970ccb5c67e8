import { spawnSync } from 'node:child_process'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import t from 'tap'
import { loggerOptions } from '../logging/options.ts'
import { bufferTurn } from '../logging/turn-buffer.ts'

t.test('the lines of a turn are written at once, in their order', async (t) => {
  const written: string[] = []
  const log = bufferTurn({ write: (lines) => written.push(lines) })
  log.write('a\n')
  log.write('b\n')
  t.same(written, [])
  await turnOfTheLoop()
  t.same(written, ['a\nb\n'])
  log.write('c\n')
  log.flushSync()
  await turnOfTheLoop()
  t.same(written, ['a\nb\n', 'c\n'])
})

t.test('a process that exits writes what is left', async (t) => {
  const module = new URL('../logging/turn-buffer.ts', import.meta.url).href
  const program = `const { bufferTurn } = await import(${JSON.stringify(module)}); bufferTurn(process.stdout).write('last'); process.exit(0)`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' })
  t.equal(stdout, 'last')
})

t.test('an error is logged with its cause, whether that is an error or a text', (t) => {
  const { serializers = {} } = loggerOptions('info')
  const messageOf = (cause: unknown) => serializers['err']?.(new Error('nothing was stored', { cause })).message
  t.equal(messageOf('shop.db: the disk is full'), 'nothing was stored: shop.db: the disk is full')
  t.equal(messageOf(new Error('no answer')), 'nothing was stored: no answer')
  t.equal(messageOf(new Error('no answer', { cause: 'the disk is full' })), 'nothing was stored: no answer: the disk is full')
  t.equal(messageOf(undefined), 'nothing was stored')
  t.end()
})
