import t from 'tap'
import { checkPrecondition } from '../../domain/preconditions.ts'

t.test('a precondition on existence or version is checked; an empty one accepts anything', async (t) => {
  for (const [expected, current] of [
    [{}, undefined],
    [{}, 3],
    [{ exists: true }, 3],
    [{ exists: false }, undefined],
    [{ version: 3 }, 3]
  ] as const)
    t.doesNotThrow(() => checkPrecondition(expected, current))
  const [nothing, something] = ['There is nothing here to change.', 'There is something here already.']
  for (const [expected, current, message] of [
    [{ exists: true }, undefined, nothing],
    [{ exists: false }, 3, something],
    [{ version: 3 }, undefined, nothing],
    [{ version: 3 }, 4, 'It has changed since it was read: read it again.'],
    [{ onlyRepeat: true }, 3, 'It has changed since it was read: read it again.'],
    [{ onlyRepeat: true }, undefined, nothing]
  ] as const)
    t.throws(() => checkPrecondition(expected, current), { code: 'precondition-failed', message })
})
