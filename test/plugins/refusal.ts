import type { Test } from 'tap'
import type { ProblemCode } from '../../http/problem-codes.ts'
import { problemTypes } from '../../http/problem-types.ts'
import { build, orderXml, type Shop, xml } from '../build.ts'

interface ReceivedProblem {
  readonly type: string
  readonly status: number
  readonly detail: string
  readonly errors?: readonly { readonly detail: string; readonly line?: number; readonly path?: string; readonly code?: string }[]
}

/** The content that a refusal must have: its code, and the line and path of its first error, or of each. */
export interface Expected {
  readonly code: ProblemCode
  readonly detail?: RegExp
  readonly line?: number
  readonly path?: string
  readonly paths?: readonly string[]
}

export interface Refusal extends Expected {
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** Words that a client must never see: engines and their codes, files, stacks, SQL. */
const internals =
  /libxml|xmlSchema|xmlParse|cvc-|facet|atomic type|xs:|\bFST_|\bERR_|SQLITE|node_modules|\.[jt]s:\d|\n\s+at |\/work\/|XML_PARSE/i

const sentence = /^\S.{8,2000}\.$/s

export function item(product = '<product-id>ABC-1</product-id>', quantity = '<quantity>1</quantity>', rest = ''): string {
  return `<item>${product}${quantity}${rest}</item>`
}

export function order(content = item()): string {
  return `<purchase-order>${content}</purchase-order>`
}

export async function nothingStored(t: Test, { store }: Shop): Promise<void> {
  t.equal((await store.stock('ABC-1')).onHand, '100', 'the stock is as it was')
  t.same((await store.orders({ limit: 1 })).items, [], 'there is no order')
}

function checkProblem(t: Test, problem: ReceivedProblem, { code, detail, line, path, paths }: Expected): void {
  const { status } = problemTypes[code]
  t.equal(problem.status, status)
  t.equal(problem.type, `/problems/${code}`, problem.detail)
  if (detail) t.match([problem.detail, ...(problem.errors ?? []).map((error) => error.detail)].join('\n'), detail)
  if (line !== undefined) t.equal(problem.errors?.[0]?.line, line, 'the line of the first error')
  if (path !== undefined) t.equal(problem.errors?.[0]?.path, path, 'the path of the first error')
  if (paths)
    t.same(
      problem.errors?.map((error) => error.path),
      paths
    )
  const details = [problem.detail, ...(problem.errors ?? []).map((error) => error.detail)]
  t.same(
    details.filter((one) => internals.test(one) || !sentence.test(one)),
    [],
    'sentences, and nothing internal in them'
  )
}

/** Posts an order that must be refused, and checks that nothing was stored. */
export async function refuse(t: Test, shop: Shop, { body, headers = xml, ...expected }: Refusal): Promise<ReceivedProblem> {
  const response = await shop.app.inject({
    method: 'POST',
    url: '/order',
    headers: { ...headers, accept: 'application/problem+json, application/xml;q=0.5' },
    payload: body
  })
  t.equal(response.statusCode, problemTypes[expected.code].status, response.body.slice(0, 500))
  t.match(response.headers['content-type'], /^application\/problem\+json(; charset=utf-8)?$/)
  t.equal(response.headers['cache-control'], 'no-store')
  const problem = response.json<ReceivedProblem>()
  checkProblem(t, problem, expected)
  return problem
}

/** A test for each of a table's refusals, in one shop that must stay as it was. */
export async function refusals(t: Test, table: Readonly<Record<string, Refusal>>): Promise<void> {
  const shop = await build(t)
  for (const [title, refusal] of Object.entries(table)) {
    await t.test(`${title} is refused, and nothing is stored`, async (t) => {
      await refuse(t, shop, refusal)
      await nothingStored(t, shop)
    })
  }
  const response = await shop.app.inject({ method: 'POST', url: '/order', headers: xml, payload: orderXml() })
  t.equal(response.statusCode, 201, 'the next order is placed')
}
