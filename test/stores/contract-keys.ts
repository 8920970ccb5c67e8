import type { Rule } from './contract.ts'

const hash = (digit: string) => digit.repeat(64)

export function keyContract(rule: Rule): void {
  rule('a key is found by its hash, as it was made', async (t, store) => {
    const before = Date.now()
    const key = await store.createKey({ customer: 'acme', scopes: ['order', 'catalogue'], hash: hash('a') })
    t.match(key, { customer: 'acme', scopes: ['order', 'catalogue'] })
    t.ok(key.id.length > 0 && key.createdAt >= before)
    t.notOk('expiresAt' in key || 'lastUsedAt' in key || 'revokedAt' in key)
    t.same(await store.findKey(hash('a')), key)
    t.equal(await store.findKey(hash('b')), undefined)
    const expiring = await store.createKey({ customer: 'acme', scopes: [], hash: hash('b'), expiresAt: 5 })
    t.equal(expiring.expiresAt, 5)
    t.same(await store.findKey(hash('b')), expiring, 'expired keys are found too')
    const listed = await store.keys()
    t.same(new Set(listed.map(({ id }) => id)), new Set([key.id, expiring.id]))
  })

  rule('a key is revoked once, and stays to be seen', async (t, store) => {
    const { id } = await store.createKey({ customer: 'acme', scopes: ['order'], hash: hash('a') })
    t.equal(await store.revokeKey('other'), false)
    t.equal(await store.revokeKey(id), true)
    const revoked = await store.findKey(hash('a'))
    t.type(revoked?.revokedAt, 'number')
    t.equal(await store.revokeKey(id), false)
    t.same(await store.keys(), [revoked])
  })

  rule('the last use of a key is kept, and never goes back', async (t, store) => {
    const { id } = await store.createKey({ customer: 'acme', scopes: ['order'], hash: hash('a') })
    const other = await store.createKey({ customer: 'other', scopes: ['order'], hash: hash('b') })
    await store.touchKeys([])
    await store.touchKeys([
      { id, at: 2_000_000_000_000 },
      { id: other.id, at: 7 },
      { id: 'none', at: 1 }
    ])
    await store.touchKeys([{ id, at: 1_000 }])
    t.equal((await store.findKey(hash('a')))?.lastUsedAt, 2_000_000_000_000)
    t.equal((await store.findKey(hash('b')))?.lastUsedAt, 7)
  })
}
