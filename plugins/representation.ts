import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { type JsonText, textOf } from '../domain/deferred.ts'
import { maxStringBody } from '../http/body-cache.ts'
import type { Current } from '../http/conditions.ts'
import { linkField } from '../http/link-field.ts'
import { isRead } from '../http/methods.ts'
import { parseReturn } from '../http/preferences.ts'
import { lastModified, makeEntityTagger, modified, pathOf, type SentValidators } from '../http/validators.ts'
import type { Notice } from '../representations/notice.ts'
import { type Context, type Representation, type Representations, type Validators, variantOf } from '../representations/representation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The version and entity tags of a value of the route's resource.
     * @param uri the resource's URI, if it is not the request's
     * @param of its representations, if they are not the route's
     */
    currentOf(value: { readonly version: number } | undefined, uri?: string, of?: Representations<never>): Current | undefined
    context(): Context
    /** Adds values that only the page of the resource shows. */
    showOnPage(values: PageValues): void
    /**
     * The entity tag that the forms of a page send back in `_if-match`. It is the tag of the XML, because that stays the same
     * when the user signs in.
     * @param uri the resource's URI, if it is not the request's
     * @param of its representations, if they are not the route's
     */
    formTag(value: unknown, uri?: string, of?: Representations<never>): string | undefined
    /** The HTML page of a value. @throws Problem */
    page(value: unknown, options?: PageOptions): Promise<string | undefined>
  }
  interface FastifyReply {
    /**
     * Sends a value in the negotiated representation, or 304 if the client already has it.
     * @param uri the resource's URI, if it is not the request's. The result of a POST has one only if it is given here.
     */
    represent(value: unknown, uri?: string): FastifyReply
    /** Sends 201 with Location and the value. */
    created(uri: string, value: unknown): FastifyReply
    /** Answers that the resource is deleted: with 204. @param next the URI of the page that a browser gets after it */
    deleted(next: string): FastifyReply
    /**
     * From now on `represent`, `created` and `deleted` answer with 303 to the URI of what was written, with this fragment. Only a value
     * that can be shown only once is still sent.
     */
    redirectToResult(fragment: '' | `#${string}`): void
    /**
     * Tries to answer with the validators only, before the value is loaded: with 304, or with a cached body.
     * @param isCheap false if a 304 is not free, because the validators took more than a look-up, or the request has waited
     * @returns false if that is not possible; then load the value and call `represent`
     */
    revalidate(validators: Validators, isCheap?: boolean): boolean
  }
}

type PageValues = Pick<Context, 'order' | 'shipments' | 'typed'>

interface PageOptions {
  readonly notice?: Notice
  /** The resource's representations, if they are not the route's. */
  readonly of?: Representations<never>
  /** Replaces the value's own tag. */
  readonly formTag?: string
}

const unrepresented: Representations<never> = { variants: [] }

/**
 * Sends representations: entity tags, validators, links, the Prefer header and the body.
 * @param release is part of every entity tag, because another release may write other bytes
 */
export default fp(
  async function representation(app: FastifyInstance, { config, release }: { config: Config; release: string }) {
    const tag = makeEntityTagger(`${release} ${config.BASE_URL.path} ${config.CURRENCY} ${config.SHOP_NAME}`)
    const pageValues = new WeakMap<FastifyRequest, PageValues>()
    const redirecting = new WeakMap<FastifyReply, string>()

    const representationsOf = (request: FastifyRequest) => request.routeOptions.config.represents ?? unrepresented
    const selected = (request: FastifyRequest): Representation<never> => {
      if (!request.representation) throw new Error(`${request.url} has no negotiated representation`)
      return request.representation
    }

    app.decorateRequest('context', function (this: FastifyRequest): Context {
      const { BASE_URL, CURRENCY, SHOP_NAME } = config
      const { caller } = this
      return { base: BASE_URL.path, currency: CURRENCY, shop: SHOP_NAME, caller, self: this.url, ...pageValues.get(this) }
    })
    app.decorateRequest('showOnPage', function (this: FastifyRequest, values: PageValues) {
      pageValues.set(this, { ...pageValues.get(this), ...values })
    })

    app.decorateRequest(
      'currentOf',
      function (
        this: FastifyRequest,
        value: { readonly version: number } | undefined,
        uri = this.url,
        of = representationsOf(this)
      ): Current | undefined {
        const { variants, validators } = of
        if (!value || !validators) return undefined
        const known = validators(value as never, this.context())
        if (!known) return undefined
        return { version: value.version, tags: variants.map((variant) => tag(pathOf(uri), known, variant)), ...modified(known) }
      }
    )

    app.decorateRequest('formTag', function (this: FastifyRequest, value: unknown, uri?: string, of = representationsOf(this)) {
      const index = of.variants.findIndex(({ suffix }) => suffix === 'xml')
      return hasVersion(value) ? this.currentOf(value, uri, of)?.tags[index] : undefined
    })

    app.decorateRequest('page', async function (this: FastifyRequest, value: unknown, options: PageOptions = {}) {
      const { notice, of = representationsOf(this), formTag = this.formTag(value, undefined, of) } = options
      const html = variantOf(of, 'text/html')
      const context = { ...this.context(), formTag, ...(notice ? { notice } : {}) }
      const text = textOf(value)
      if (!html || text === undefined || of.name === undefined) return html?.write(value as never, context)
      const { name } = of
      const write = () => app.documents.write(this, name, html.mediaType, text, context)
      return Buffer.from(await this.withRoomFor(text, write)).toString('utf8')
    })

    function sentValidators(request: FastifyRequest, path: string, validators: Validators): SentValidators {
      const { isFinal = false } = validators
      return { tag: tag(path, validators, selected(request)), isFinal, ...modified(validators) }
    }

    function setHeaders(request: FastifyRequest, reply: FastifyReply, known: SentValidators | undefined) {
      reply.header('content-type', selected(request).contentType)
      if (known) reply.header('etag', known.tag)
      else reply.removeHeader('etag').removeHeader('last-modified')
      if (known?.modifiedAt !== undefined) reply.header('last-modified', lastModified(known.modifiedAt))
      const policy = request.routeOptions.config.caching
      if (policy) reply.header('cache-control', app.cachePolicies[isRead(request.method) ? (known?.isFinal ? 'final' : policy) : 'never'])
    }

    function setLinks(request: FastifyRequest, reply: FastifyReply, value: unknown, uri: string | undefined) {
      const of = representationsOf(request)
      const links = of.links?.(value as never, request.context()) ?? []
      const field = linkField(of, selected(request), links, { uri, base: config.BASE_URL.path })
      if (field !== '') reply.header('link', field)
    }

    /** Conditions apply to resources without a tag too: they exist, and match no tag of the client (RFC 9110 section 13.2.1). */
    function mayAnswer304(request: FastifyRequest, known: SentValidators | undefined): boolean {
      if (!isRead(request.method)) return false
      return request.isNotModified(known ? { tags: [known.tag], ...modified(known) } : { tags: [] })
    }

    /** The cache key of a body. Only bodies that are the same for all callers are cached. */
    function bodyKey(request: FastifyRequest, known: SentValidators | undefined): string | undefined {
      if (!known || !isRead(request.method) || request.routeOptions.config.caching !== 'catalogue') return undefined
      return `${request.url} ${known.tag}`
    }

    function sendCached(reply: FastifyReply, key: string | undefined): boolean {
      const body = key === undefined ? undefined : app.bodies?.get(key)
      if (!body) return false
      if (body.link !== undefined) reply.header('link', body.link)
      reply.send(body.bytes)
      return true
    }

    function contextOf(request: FastifyRequest, value: unknown, self: string): Context {
      const context = { ...request.context(), self }
      return request.isPage ? { ...context, formTag: request.formTag(value, self) } : context
    }

    /**
     * Writes a deferred value, which is still JSON text, in the document process.
     * @returns undefined if the response to a write has no room or cannot be written. The write was carried out, so that is no error
     */
    async function writeDeferred(request: FastifyRequest, name: string, text: JsonText, context: Context): Promise<Uint8Array | undefined> {
      const write = () => app.documents.write(request, name, selected(request).mediaType, text, context)
      if (!isRead(request.method)) return request.writeWithRoom(text, write)
      // To read the text took as long as it takes to send it to the process, so others come between.
      return request.withRoomFor(text, () => request.nextTurn().then(write))
    }

    async function sendWhenWritten<Body>(reply: FastifyReply, written: Promise<Body>, send: (body: Body) => void): Promise<void> {
      try {
        send(await written)
      } catch (error) {
        reply.send(error)
      }
    }

    function sendBody(request: FastifyRequest, reply: FastifyReply, key: string | undefined, value: unknown, self: string) {
      const context = contextOf(request, value, self)
      const { name } = representationsOf(request)
      const text = textOf(value)
      if (text !== undefined && name !== undefined) {
        void sendWhenWritten(reply, writeDeferred(request, name, text, context), (bytes) => {
          if (bytes) reply.send(bytes)
          else sendWithoutBody(request, reply.withdrawPreference('return=representation').removeHeader('content-location'))
        })
        return reply
      }
      const { write, writeInPieces } = selected(request)
      if (!writeInPieces) return sendText(reply, key, write(value as never, context))
      const pieces = writeInPieces(value as never, context)
      const { done, value: body } = pieces.next()
      if (done) return sendText(reply, key, body)
      void sendWhenWritten(reply, request.inTurns(pieces), (whole) => sendText(reply, key, whole))
      return reply
    }

    function sendText(reply: FastifyReply, key: string | undefined, body: string): FastifyReply {
      // Node sends a string in one piece with the header section, which takes less time than a Buffer after it.
      const isSmall = body.length <= maxStringBody
      const isKept = key !== undefined && app.bodies !== undefined
      if (isSmall && !isKept) return reply.send(body)
      const link = reply.getHeader('link')
      const bytes = Buffer.from(body)
      if (isKept) app.bodies?.set(key, { bytes, link: link === undefined ? undefined : String(link) })
      return reply.send(isSmall ? body : bytes)
    }

    /** Follows Prefer in the response to a write (RFC 7240 section 4.2). @returns false if the representation must still be sent */
    function sendMinimal(request: FastifyRequest, reply: FastifyReply, uri: string | undefined): boolean {
      const preferred = parseReturn(request.operation.prefer)
      if (preferred) reply.applyPreference(`return=${preferred}`)
      if (preferred !== 'minimal') {
        // With Content-Location, the response's validators belong to that resource (RFC 9110 section 8.7).
        if (uri !== undefined && reply.statusCode < 300) reply.header('content-location', uri)
        return false
      }
      sendWithoutBody(request, reply)
      return true
    }

    function sendWithoutBody(request: FastifyRequest, reply: FastifyReply): void {
      // The stored representation differs from the bytes that the client sent, so the response has no tag (RFC 9110 section 9.3.4).
      if (request.method === 'PUT') reply.removeHeader('etag').removeHeader('last-modified')
      if (reply.statusCode === 200) reply.code(204)
      reply.removeHeader('content-type').send()
    }

    app.decorateReply('revalidate', function (this: FastifyReply, validators: Validators, isCheap = true): boolean {
      const known = sentValidators(this.request, pathOf(this.request.url), validators)
      setHeaders(this.request, this, known)
      if (mayAnswer304(this.request, known)) {
        // Links of the value are unknown here. A Link without them would replace the whole one in caches (RFC 9111 section 3.2).
        if (!representationsOf(this.request).links) setLinks(this.request, this, undefined, this.request.url)
        // A cheap 304 is free of charge. With `*` it is not, because that always matches and would make every request free.
        if (isCheap && this.request.headers['if-none-match']?.trim() !== '*') this.request.charge(-1)
        this.code(304).removeHeader('content-type').send()
        return true
      }
      return sendCached(this, bodyKey(this.request, known))
    })

    app.decorateReply('represent', function (this: FastifyReply, value: unknown, uri?: string): FastifyReply {
      const { request } = this
      const { method, url } = request
      const self = uri ?? url
      const path = pathOf(self)
      // The target of a POST processes it, and is not its result.
      const resultUri = uri === undefined && method === 'POST' ? undefined : self
      const isShownOnce = representationsOf(request).isShownOnce?.(value as never) ?? false
      if (redirecting.has(this) && !isShownOnce) return this.redirect(`${path}${redirecting.get(this)}`, 303)
      const validators = isShownOnce ? undefined : representationsOf(request).validators?.(value as never, request.context())
      const known = validators && sentValidators(request, path, validators)
      setHeaders(request, this, known)
      const isUnchanged = mayAnswer304(request, known)
      const key = bodyKey(request, known)
      if (!isUnchanged && sendCached(this, key)) return this
      setLinks(request, this, value, resultUri)
      if (isUnchanged) return this.code(304).removeHeader('content-type').send()
      if (!isRead(method) && !isShownOnce && sendMinimal(request, this, resultUri && pathOf(resultUri))) return this
      return sendBody(request, this, key, value, self)
    })

    app.decorateReply('created', function (this: FastifyReply, uri: string, value: unknown): FastifyReply {
      return this.code(201).header('location', uri).represent(value, uri)
    })

    app.decorateReply('deleted', function (this: FastifyReply, next: string): FastifyReply {
      return redirecting.has(this) ? this.redirect(`${next}${redirecting.get(this)}`, 303) : this.code(204).send()
    })

    app.decorateReply('redirectToResult', function (this: FastifyReply, fragment: string) {
      redirecting.set(this, fragment)
    })
  },
  {
    name: 'representation',
    fastify: '5.x',
    dependencies: ['admission', 'documents', 'negotiation', 'preconditions', 'prefer', 'rate-limit', 'caching', 'scheduling']
  }
)

function hasVersion(value: unknown): value is { readonly version: number } {
  return typeof value === 'object' && value !== null && 'version' in value
}
