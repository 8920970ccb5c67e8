import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import type { FormPages } from '../plugins/form-pages.ts'
import { uris } from '../representations/links.ts'
import type { ProblemDocument } from '../representations/problem.ts'
import { variantOf } from '../representations/representation.ts'
import { type Notice, refusalNotice } from '../representations/views.ts'
import { type RefusedWebhook, webhookRepresentations, webhooksRepresentations } from '../representations/webhook.ts'
import { isHidden } from './access.ts'

/** The pages that show a refused form of a webhook again, with what was typed. */
export function webhookPages(app: FastifyInstance, config: Config): { readonly ofList: FormPages; readonly ofOne: FormPages } {
  const uri = uris(config.BASE_URL.path)

  function typedIn(request: FastifyRequest): NonNullable<RefusedWebhook['typed']> {
    const fields = [...(request.form() ?? [])]
    const sent = (name: string) => fields.find(([field]) => field === name)?.[1] ?? ''
    return {
      url: sent('url'),
      types: fields.filter(([name]) => name.startsWith('type.')).map(([, value]) => value),
      mediaType: sent('media-type')
    }
  }

  async function refusedNew(request: FastifyRequest, problem: ProblemDocument): Promise<string | undefined> {
    const { caller } = request
    if (isHidden(problem) || caller?.kind !== 'key') return undefined
    const webhooks = await app.store.webhooks(caller.customer)
    const { title, detail } = problem
    const list = { webhooks, typed: typedIn(request), faults: problem.errors ?? [] }
    const context = { ...request.context(), notice: { kind: 'problem', title, detail } satisfies Notice }
    return variantOf(webhooksRepresentations, 'text/html')?.write(list, context)
  }

  async function refusedChange(request: FastifyRequest, problem: ProblemDocument): Promise<string | undefined> {
    const { caller } = request
    if (isHidden(problem) || caller?.kind !== 'key') return undefined
    const { webhook_id: id } = request.params as { webhook_id: string }
    const webhook = await app.store.webhook(id, caller.customer)
    // After a 412 the form shows the webhook as it is now.
    const typed = request.operation.method === 'PUT' && problem.status !== 412 ? { typed: typedIn(request) } : {}
    const shown = { ...webhook, ...typed, faults: problem.errors ?? [] }
    const formTag = request.formTag(webhook, uri.webhook(id), webhookRepresentations)
    const context = { ...request.context(), formTag, notice: refusalNotice(problem, 'the webhook') }
    return variantOf(webhookRepresentations, 'text/html')?.write(shown, context)
  }

  // The page of a new webhook shows its secret, and nothing shows it again.
  return { ofList: { refused: refusedNew, showsResult: true }, ofOne: { refused: refusedChange } }
}
