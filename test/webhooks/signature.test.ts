import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { makeSecret, signatureHeaders } from '../../webhooks/signature.ts'

t.test('the published test vector of Standard Webhooks', async (t) => {
  const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']
  const signing = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, secrets }
  const headers = signatureHeaders(signing, Buffer.from('{"test": 2432232314}'))
  t.same(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  })
})

t.test('a secret has 24 to 64 random bytes and is never made twice', async (t) => {
  const secrets = Array.from({ length: 50 }, makeSecret)
  for (const secret of secrets) {
    t.match(secret, /^whsec_[A-Za-z0-9+/]+=*$/)
    const { length } = Buffer.from(secret.slice(6), 'base64')
    t.ok(length >= 24 && length <= 64)
  }
  t.equal(new Set(secrets).size, 50)
})

t.test('the library of the standard verifies a delivery with each of two secrets, and with no other', async (t) => {
  const [newer, older, other] = [makeSecret(), makeSecret(), makeSecret()]
  const body = Buffer.from('{"name":"Möbel \u{1f600}"}')
  const signing = { id: 'event-1', timestamp: Math.floor(Date.now() / 1000), secrets: [newer, older] }
  const headers = { ...signatureHeaders(signing, body) }
  t.equal(headers['webhook-signature']?.split(' ').length, 2)
  for (const secret of [newer, older]) t.same(new Webhook(secret).verify(body, headers), JSON.parse(body.toString()))
  t.throws(() => new Webhook(other).verify(body, headers))
  t.throws(() => new Webhook(newer).verify(Buffer.concat([body, Buffer.from(' ')]), headers), 'another body')
  t.throws(() => new Webhook(newer).verify(body, { ...headers, 'webhook-id': 'event-2' }), 'another id')
})
