import t from 'tap'
import { outgoingShares } from '../../http/descriptors.ts'
import { ThreadLost } from '../../threads/helper-thread.ts'
import { NotCheckedError, UrlChecks } from '../../webhooks/url-checks.ts'

const url = 'https://erp.example/'
const { checks: mostChecked } = outgoingShares(undefined)

t.test('a customer whose URLs take long to check leaves room for others', async (t) => {
  let letGo = () => {}
  const held = new Promise<undefined>((resolve) => (letGo = () => resolve(undefined)))
  let asked = 0
  const check = () => {
    asked++
    return held
  }
  const checks = new UrlChecks({ check }, mostChecked)
  const refused = { hostile: 0, honest: 0 }
  const checking = (['hostile', 'honest'] as const).flatMap((customer) =>
    Array.from({ length: mostChecked }, () =>
      checks.refusal(url, customer).catch((error) => {
        if (!(error instanceof NotCheckedError)) throw error
        refused[customer]++
      })
    )
  )
  await new Promise(setImmediate)
  t.same(refused, { hostile: mostChecked - 7, honest: mostChecked - 6 })
  letGo()
  await Promise.all(checking)
  t.equal(asked, 13)
  t.equal(await checks.refusal(url, 'hostile'), undefined, 'then it has room again')
})

t.test('a URL is not checked when the thread has ended, and any other error stays what it is', async (t) => {
  const failing = (error: Error) => new UrlChecks({ check: () => Promise.reject(error) }, mostChecked).refusal(url, 'ERP')
  await t.rejects(failing(new ThreadLost(true)), NotCheckedError)
  await t.rejects(failing(new RangeError('other')), RangeError)
})
