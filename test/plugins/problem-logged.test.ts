import t from 'tap'
import { DomainError } from '../../domain/errors.ts'
import { Problem } from '../../http/problem.ts'
import { build } from '../build.ts'

const information = 30
const failure = 50

t.test('a 503 that the service decides itself is logged as any refusal is; what the loss of the store causes is an error', async (t) => {
  const lines: { level: number; msg: string; code?: string; detail?: string; err?: unknown }[] = []
  const logTo = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const { app, store } = await build(t, { logTo })
  for (const [thrown, level] of [
    [new Problem('overloaded', 'Too much is under way.'), information],
    [new Problem('stopping', 'The service stops.'), information],
    [new DomainError('store-overloaded', 'Too many writes wait.'), information],
    [new DomainError('store-overloaded', 'A statement took too long.', { cause: new Error('canceled') }), failure],
    [new DomainError('store-unavailable', 'The database is gone.', { cause: new Error('disk') }), failure],
    [new Error('a defect'), failure]
  ] as const) {
    store.product = async () => Promise.reject(thrown)
    lines.length = 0
    const { statusCode } = await app.inject('/product/ABC-1')
    t.match(statusCode, /^50[03]$/)
    t.equal(Math.max(...lines.map((line) => line.level)), level, thrown.message)
    const withError = lines.filter((line) => line.err !== undefined)
    t.equal(withError.length, level === failure ? 1 : 0, 'only a failure has a stack')
    if (level === information && 'code' in thrown) t.match(lines, [{ msg: 'request completed', code: thrown.code, detail: thrown.message }])
  }
})
