import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { JobWatch, processorTimeOf } from '../../documents/job-watch.ts'

/** Milliseconds. A tenth of it passes between two looks. */
const budget = 20

/** Watches a process that has used a processor time for each look. @returns the number of looks after which it was ended */
function looksUntilEnd(timeAt: (look: number) => number | undefined): Promise<number> {
  return new Promise((resolve) => {
    let looks = 0
    // The timers of a watch do not keep this process alive.
    const alive = setInterval(() => {}, 1_000)
    const watch = new JobWatch({
      budget,
      processorTime: () => timeAt(looks++),
      end: () => {
        clearInterval(alive)
        resolve(looks)
      }
    })
    watch.start()
  })
}

t.test('a process that makes no progress is ended', async (t) => {
  t.equal(await looksUntilEnd(() => 1_000), 201)
})

t.test('a process that goes on slowly, as on a busy machine, is ended only when it is over its budget', async (t) => {
  // It uses 10 ms, the least that the system tells, in 150 looks.
  t.equal(await looksUntilEnd((look) => 10 * Math.floor(look / 150)), 301)
})

t.test('a process is ended soon after it is over its budget', async (t) => {
  t.equal(await looksUntilEnd((look) => 2 * look), 11)
})

t.test('a process whose time cannot be read is ended when the budget is over by the clock', async (t) => {
  t.equal(await looksUntilEnd(() => undefined), 11)
})

t.test('a job that is done is not watched any more, and the next one has its own budget', async (t) => {
  let [looks, ended] = [0, 0]
  const watch = new JobWatch({ budget, processorTime: () => looks++, end: () => ended++ })
  watch.start()
  while (looks < 12) await sleep(1)
  watch.start()
  const before = looks
  while (looks < before + 12) await sleep(1)
  t.equal(ended, 0)
  watch.stop()
  const last = looks
  // Until another watch has ended its process, the stopped one would have looked.
  await looksUntilEnd(() => undefined)
  t.same([looks, ended], [last, 0])
})

t.test('the processor time of a process is told by the system', { skip: process.platform !== 'linux' }, async (t) => {
  const before = processorTimeOf(process.pid)
  if (before === undefined) return t.fail('it is not known')
  while ((processorTimeOf(process.pid) ?? 0) < before + 20);
  t.equal(processorTimeOf(-1), undefined)
})
