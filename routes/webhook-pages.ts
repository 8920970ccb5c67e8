import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { TypedForm } from '../http/form-post.ts'
import type { FormPages } from '../plugins/form-pages.ts'
import { uris } from '../representations/links.ts'
import { type Notice, refusalNotice } from '../representations/notice.ts'
import { isHidden, type ProblemDocument } from '../representations/problem.ts'
import { type RefusedWebhook, type ShownWebhook, type WebhookList, webhooksRepresentations } from '../representations/webhook.ts'
import type { KeyHolder } from './access.ts'
import { webhookIdOf } from './parameters.ts'

/** The pages that show a refused form of a webhook again, with what was typed. */
export const webhookPages: { readonly ofList: FormPages; readonly ofOne: FormPages; readonly ofSecret: FormPages } = {
  ofList: { refused: refusedNew },
  ofOne: { refused: refusedChange, confirms: true },
  ofSecret: { refused: refusedSecret }
}

/** The key that may see a page beside the problem. Undefined if there is none. */
function viewerOf({ caller }: FastifyRequest, problem: ProblemDocument): KeyHolder | undefined {
  return caller.kind === 'key' && !isHidden(problem) ? caller : undefined
}

async function refusedNew(request: FastifyRequest, problem: ProblemDocument, form: TypedForm): Promise<string | undefined> {
  const viewer = viewerOf(request, problem)
  if (!viewer) return undefined
  const { title, detail, errors: faults = [] } = problem
  const webhooks = await request.read((store) => store.webhooks(viewer.customer))
  const list: WebhookList = { webhooks, formKey: randomUUID(), typed: typedIn(form), faults }
  return request.page(list, { of: webhooksRepresentations, notice: { kind: 'problem', title, detail } })
}

async function refusedChange(request: FastifyRequest, problem: ProblemDocument, form: TypedForm): Promise<string | undefined> {
  const viewer = viewerOf(request, problem)
  if (!viewer) return undefined
  const id = webhookIdOf(request)
  const webhook = await request.read((store) => store.webhook(id, viewer.customer))
  // After a 412 the form shows the webhook as it is now.
  const typed = request.operation.method === 'PUT' && problem.status !== 412 ? { typed: typedIn(form) } : {}
  const shown: ShownWebhook = { ...webhook, ...typed, faults: problem.errors ?? [] }
  return request.page(shown, { notice: refusalNotice(problem, 'the webhook') })
}

/** The form's tag is old after its first post, so a repeated post is refused. It cannot show the secret that the first one made. */
async function refusedSecret(request: FastifyRequest, problem: ProblemDocument): Promise<string | undefined> {
  const viewer = viewerOf(request, problem)
  if (!viewer) return undefined
  const id = webhookIdOf(request)
  const webhook: ShownWebhook = await request.read((store) => store.webhook(id, viewer.customer))
  const notice: Notice = problem.status === 412 ? sentBefore : refusalNotice(problem, 'the webhook')
  // The form's tag is the webhook's, and this address is not.
  const formTag = request.formTag(webhook, uris(request.context().base).webhook(id))
  return request.page(webhook, { notice, ...(formTag === undefined ? {} : { formTag }) })
}

const sentBefore: Notice = {
  kind: 'problem',
  title: 'No other secret was made',
  detail:
    'This form was sent before, or the webhook was changed in the meantime. A secret is shown only once: if you do not have the newest one, make a new one below.'
}

function typedIn({ fields }: TypedForm): NonNullable<RefusedWebhook['typed']> {
  return {
    url: fields.get('url') ?? '',
    types: [...fields].filter(([name]) => name.startsWith('type.')).map(([, value]) => value),
    mediaType: fields.get('media-type') ?? ''
  }
}
