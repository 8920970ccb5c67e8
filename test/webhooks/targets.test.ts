import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import t from 'tap'
import { type Address, askNameServers, isPublic, type Resolve, resolveHost, TargetError, Targets } from '../../webhooks/targets.ts'

const resolvingTo =
  (...addresses: readonly string[]): Resolve =>
  async () =>
    addresses.map((address): Address => ({ address, family: address.includes(':') ? 6 : 4 }))

t.test('public addresses may be called, and no others', async (t) => {
  for (const address of ['1.1.1.1', '9.255.255.255', '100.63.255.255', '100.128.0.0', '172.15.0.1', '172.32.0.1', '223.255.255.255'])
    t.ok(isPublic(address), address)
  for (const address of ['2606:4700:4700::1111', '2001:4860:4860::8888', '2a00:1450:4001:82f::200e']) t.ok(isPublic(address), address)
  const special = [
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '192.0.0.8',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:1.1.1.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fec0::1',
    'ff02::1',
    'no address'
  ]
  for (const address of special) t.notOk(isPublic(address), address)
})

t.test(
  'a URL is https, without credentials and fragment, and its host is no address that is not public, however it is written',
  async (t) => {
    const targets = new Targets([])
    t.equal(targets.read('https://erp.example/hooks?a=b').href, 'https://erp.example/hooks?a=b')
    t.equal(targets.read('https://1.1.1.1:8443/').href, 'https://1.1.1.1:8443/')
    for (const [url, reason] of [
      ['erp.example', /absolute/],
      ['/hooks', /absolute/],
      ['ftp://erp.example/', /https/],
      ['file:///etc/passwd', /https/],
      ['javascript:alert(1)', /https/],
      ['http://erp.example/', /only for hosts that the shop allows/],
      ['https://user@erp.example/', /user name/],
      ['https://user:pass@erp.example/', /user name/],
      ['https://:pass@erp.example/', /password/],
      ['https://erp.example/#a', /fragment/],
      ['https://erp.example/#', /fragment/],
      ['https://127.0.0.1/', /not public/],
      ['https://2130706433/', /127\.0\.0\.1/],
      ['https://0177.0.0.1/', /127\.0\.0\.1/],
      ['https://0x7f.1/', /127\.0\.0\.1/],
      ['https://127.1/', /127\.0\.0\.1/],
      ['https://①②⑦.0.0.1/', /127\.0\.0\.1/],
      ['https://0/', /0\.0\.0\.0/],
      ['https://[::1]/', /::1/],
      ['https://[::ffff:127.0.0.1]/', /not public/],
      ['https://[fe80::1]/', /not public/],
      ['https://169.254.169.254/latest/meta-data', /not public/],
      ['https://10.0.0.1./', /not public/]
    ] as const)
      t.throws(() => targets.read(url), { name: 'TargetError', message: reason }, url)
  }
)

t.test('a URL that can never be called is refused', async (t) => {
  const targets = new Targets([])
  const label = 'a'.repeat(63)
  const longest = `${[label, label, label].join('.')}.${'b'.repeat(61)}`
  for (const url of [
    `https://${longest}/`,
    `https://${longest}./`,
    'https://my_erp.example/',
    'https://xn--bcher-kva.example/',
    'https://bücher.example/'
  ])
    t.doesNotThrow(() => targets.read(url), url)
  for (const [url, reason] of [
    ['https://a..b/', /empty part/],
    ['https://.example/', /empty part/],
    ['https://localhost../', /empty part/],
    ['https://-/', /cannot be in a name: -/],
    ['https://-a.example/', /cannot be in a name/],
    ['https://a-.example/', /cannot be in a name/],
    ['https://a!b.example/', /cannot be in a name/],
    [`https://${label}a.example/`, /63 characters/],
    [`https://${longest}b/`, /253 characters/],
    ['https://erp.example:0/', /port 0/],
    ['https://erp.example:65536/', /absolute/],
    ['https://erp.example/ ', /spaces/],
    [' https://erp.example/', /spaces/],
    ['https://erp.example/a b', /spaces/],
    ['https://erp.ex\tample/', /spaces/],
    ['https://erp.example/\n', /spaces/],
    ['https:\\\\erp.example\\', /backslashes/],
    ['https:erp.example', /and a host/],
    ['https:///erp.example', /and a host/],
    ['https://', /absolute/],
    ['', /absolute/]
  ] as const)
    t.throws(() => targets.read(url), { name: 'TargetError', message: reason }, JSON.stringify(url))
})

t.test('WEBHOOK_ALLOW names hosts, addresses and ranges', async (t) => {
  const targets = new Targets(['ERP.internal', '10.1.0.0/16', '::1', 'fd00::/8'], resolvingTo('10.1.2.3'))
  for (const url of ['http://erp.internal/', 'https://erp.internal.:8080/', 'http://10.1.2.3/', 'http://[::1]/', 'https://[fd12::1]/'])
    t.doesNotThrow(() => targets.read(url), url)
  for (const url of ['http://other.internal/', 'http://10.2.0.1/', 'https://10.2.0.1/', 'http://1.1.1.1/', 'https://[fc00::1]/'])
    t.throws(() => targets.read(url), TargetError, url)
  await t.resolves(targets.check('https://other.internal/'), 'a name whose address is in a range')
  await t.rejects(new Targets(['10.1.0.0/16'], resolvingTo('10.2.0.1')).check('https://other.internal/'), TargetError)
  await t.resolves(new Targets(['erp.internal'], resolvingTo('127.0.0.1')).check('http://erp.internal/'))
})

t.test('every address of a host is checked', async (t) => {
  await t.resolves(new Targets([], resolvingTo('1.1.1.1', '2606:4700::1')).check('https://erp.example/'))
  for (const addresses of [['127.0.0.1'], ['1.1.1.1', '10.0.0.1'], ['1.1.1.1', '::1']])
    await t.rejects(new Targets([], resolvingTo(...addresses)).check('https://erp.example/'), TargetError, addresses.join())
  await t.rejects(new Targets([]).check('https://localhost/'), TargetError)
  await t.rejects(new Targets([]).check('https://a.localhost./'), TargetError)
})

t.test('a host that is not there is refused, and one that cannot be looked up now is not', async (t) => {
  const failing =
    (code: string): Resolve =>
    () =>
      Promise.reject(Object.assign(new Error(code), { code }))
  await t.rejects(new Targets([], failing('ENOTFOUND')).check('https://erp.example/'), { message: /cannot be found/ })
  await t.rejects(new Targets([], resolvingTo()).check('https://erp.example/'), { message: /cannot be found/ })
  await t.resolves(new Targets([], failing('ETIMEOUT')).check('https://erp.example/'))
  await t.rejects(new Targets([], failing('ETIMEOUT')).addresses('erp.example'), { code: 'ETIMEOUT' })
})

t.test('a name that the operator allows is looked up as the system does it', async (t) => {
  const found = await resolveHost('localhost', true)
  t.ok(found.some(({ address }) => address === '127.0.0.1' || address === '::1'))
})

t.test('a host is not there only if the name servers say so for both families', async (t) => {
  const [noError, serverFailure, noName] = [0, 2, 3]
  /** The answers, without a record, to questions for IPv4 and for IPv6 (RFC 1035 sections 4.1.1 and 3.2.2, RFC 3596 section 2.1). */
  let codes = [noError, noError]
  const nameServer = createSocket('udp4')
  nameServer.on('message', (query, { port, address }) => {
    const question = query.subarray(12)
    const type = question.readUInt16BE(question.indexOf(0) + 1)
    const answer = Buffer.from(query)
    answer.writeUInt8(answer.readUInt8(2) | 0x80, 2)
    answer.writeUInt8((type === 1 ? codes[0] : codes[1]) ?? 0, 3)
    nameServer.send(answer, port, address)
  })
  t.teardown(() => nameServer.close())
  nameServer.bind(0, '127.0.0.1')
  await once(nameServer, 'listening')
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  resolver.setServers([`127.0.0.1:${nameServer.address().port}`])
  for (const [answers, code] of [
    [[noError, noError], 'ENODATA'],
    [[noName, noName], 'ENOTFOUND'],
    [[noError, serverFailure], 'ESERVFAIL'],
    [[serverFailure, noError], 'ESERVFAIL'],
    [[noName, serverFailure], 'ESERVFAIL']
  ] as const) {
    codes = [...answers]
    await t.rejects(askNameServers('erp.example', resolver), { code }, answers.join())
  }
})

t.test('a host has at most 32 addresses', async (t) => {
  const targets = (count: number) => new Targets([], resolvingTo(...Array.from({ length: count }, (_, i) => `1.1.1.${i}`)))
  t.equal((await targets(32).addresses('erp.example')).length, 32)
  await t.rejects(targets(33).check('https://erp.example/'), {
    name: 'TargetError',
    message: 'The host erp.example has more than 32 addresses.'
  })
})

t.test('a check does not wait long for a name server', async (t) => {
  await t.resolves(new Targets([], () => new Promise(() => {}), 1).check('https://erp.example/'))
})
