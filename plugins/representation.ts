import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '../config.ts'
import { guest } from '../domain/caller.ts'
import { textOf } from '../domain/deferred.ts'
import { uris } from '../representations/links.ts'
import type { Context, Representation, Representations, Validators } from '../representations/representation.ts'
import type { Notice } from '../representations/views.ts'
import type { Current } from './preconditions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What `expectation` needs of a value of the route's resource. @param uri of the resource, where it is not the request's */
    currentOf(value: { readonly version: number } | undefined, uri?: string): Current | undefined
    context(): Context
    /**
     * What the forms of a page that shows a value send back in `_if-match`: the entity tag of its XML, which is the same
     * for who signs in meanwhile.
     * @param uri of the resource, where it is not the request's
     */
    formTag(value: { readonly version: number }, uri?: string): string | undefined
    /** The HTML page of a value of the route's resource. `formTag`: where it is not the value's own. @throws Problem */
    page(value: { readonly version: number }, more?: { readonly formTag?: string; readonly notice?: Notice }): Promise<string | undefined>
  }
  interface FastifyReply {
    /**
     * Sends a value as the client wants it, or 304 to a GET that has it.
     * @param uri whose representation it is, where that is not the request's own resource
     */
    represent(value: unknown, uri?: string): FastifyReply
    /** 201 with Location. */
    created(uri: string, value: unknown): FastifyReply
    /**
     * Answers by validators alone, before the value is even loaded: 304, or with a body that was kept. False: go on and
     * `represent` it with the same.
     */
    revalidate(validators: Validators): boolean
  }
}

/** The validators of the representation that is chosen, as they are sent. */
interface Tagged {
  readonly tag: string
  readonly modifiedAt?: number
}

const noResource: Representations<never> = { variants: [] }

const isSafe = (method: string) => method === 'GET' || method === 'HEAD'

/**
 * Representations on the wire: entity tags, validators, links, the Prefer header, the body.
 * @param release names what makes the bytes: another release of the service never shares its tags
 */
export default fp(
  async function representation(app: FastifyInstance, { config, release }: { config: Config; release: string }) {
    const maker = `${release} ${config.BASE_URL.path} ${config.CURRENCY} ${config.SHOP_NAME}`

    /** Strong, and of one representation of one version of one resource: no two URIs share a tag. */
    function tag(path: string, { version, page }: Validators, { suffix }: Representation<never>): string {
      const stamp = createHash('sha256').update(`${maker} ${path}`).digest('hex').slice(0, 8)
      return `"${version}${suffix === 'html' && page !== undefined ? `.${page}` : ''}-${stamp}-${suffix}"`
    }

    const represents = (request: FastifyRequest) => request.routeOptions.config.represents ?? noResource
    const selected = (request: FastifyRequest): Representation<never> => {
      if (!request.representation) throw new Error(`${request.url} names no representation`)
      return request.representation
    }

    app.decorateRequest('context', function (this: FastifyRequest): Context {
      return { base: config.BASE_URL.path, currency: config.CURRENCY, shop: config.SHOP_NAME, caller: this.caller ?? guest, self: this.url }
    })

    app.decorateRequest('currentOf', function (this: FastifyRequest, value: { readonly version: number } | undefined, uri = this.url):
      | Current
      | undefined {
      const { variants, validators } = represents(this)
      if (!value || !validators) return undefined
      const known = validators(value as never, this.context())
      if (!known) return undefined
      return { version: value.version, tags: variants.map((variant) => tag(pathOf(uri), known, variant)), ...modified(known) }
    })

    app.decorateRequest('formTag', function (this: FastifyRequest, value: { readonly version: number }, uri?: string) {
      const index = represents(this).variants.findIndex(({ suffix }) => suffix === 'xml')
      return this.currentOf(value, uri)?.tags[index]
    })

    app.decorateRequest(
      'page',
      async function (
        this: FastifyRequest,
        value: { readonly version: number },
        { formTag = this.formTag(value), notice }: { readonly formTag?: string; readonly notice?: Notice } = {}
      ) {
        const { name, variants } = represents(this)
        const html = variants.find(({ suffix }) => suffix === 'html')
        const context = { ...this.context(), formTag, ...(notice ? { notice } : {}) }
        const text = textOf(value)
        if (!html || text === undefined || name === undefined) return html?.write(value as never, context)
        const write = () => app.documents.write(this, name, html.mediaType, text, context)
        return Buffer.from(await this.withRoomFor(text.length, write)).toString('utf8')
      }
    )

    function tagged(request: FastifyRequest, path: string, validators: Validators): Tagged {
      return { tag: tag(path, validators, selected(request)), ...modified(validators) }
    }

    function setHeaders(request: FastifyRequest, reply: FastifyReply, known: Tagged | undefined) {
      reply.header('content-type', selected(request).contentType)
      if (known) reply.header('etag', known.tag)
      else reply.removeHeader('etag').removeHeader('last-modified')
      if (known?.modifiedAt !== undefined) reply.header('last-modified', lastModified(known.modifiedAt))
      const policy = request.routeOptions.config.caching
      if (policy) reply.header('cache-control', app.cachePolicies[isSafe(request.method) ? policy : 'never'])
    }

    function setLinks(request: FastifyRequest, reply: FastifyReply, value: unknown, uri: string) {
      const { variants, schema, links = () => [] } = represents(request)
      const chosen = selected(request)
      const pages = links(value as never).filter(({ rel }) => rel !== 'self')
      const fields = [
        ...variants
          .filter((variant) => variant !== chosen && !variant.alias)
          .map(({ mediaType }) => `<${uri}>; rel="alternate"; type="${mediaType}"`),
        ...(schema === undefined ? [] : [`<${uris(config.BASE_URL.path).schema(schema)}>; rel="describedby"; type="application/xml"`]),
        ...pages.map(({ rel, href }) => `<${href}>; rel="${rel}"`)
      ]
      if (fields.length > 0) reply.header('link', fields.join(', '))
    }

    /** Conditions are evaluated also where nothing has a tag: there is something, and none of theirs (RFC 9110 section 13.2.1). */
    function isNotModified(request: FastifyRequest, known: Tagged | undefined): boolean {
      if (!isSafe(request.method)) return false
      return request.isNotModified(known ? { tags: [known.tag], ...modified(known) } : { tags: [] })
    }

    /** Under what the body may be kept: only what everybody is sent alike. */
    function bodyKey(request: FastifyRequest, known: Tagged | undefined): string | undefined {
      if (!known || !isSafe(request.method) || request.routeOptions.config.caching !== 'catalogue') return undefined
      return `${request.url} ${known.tag}`
    }

    function sendKept(reply: FastifyReply, key: string | undefined): boolean {
      const body = key === undefined ? undefined : app.bodies.get(key)
      if (!body) return false
      if (body.link !== undefined) reply.header('link', body.link)
      reply.send(body.bytes)
      return true
    }

    function contextOf(request: FastifyRequest, value: unknown, self: string): Context {
      const context = { ...request.context(), self }
      if (selected(request).suffix !== 'html' || typeof value !== 'object' || value === null || !('version' in value)) return context
      return { ...context, formTag: request.formTag(value as { version: number }, self) }
    }

    /** A value that is still text is written beside this thread. */
    async function sendDeferred(request: FastifyRequest, reply: FastifyReply, name: string, text: string, context: Context) {
      const write = () => app.documents.write(request, name, selected(request).mediaType, text, context)
      try {
        // What is written was stored: its answer is owed, and the room that its document took is there.
        const body = await (isSafe(request.method) ? request.withRoomFor(text.length, write) : write())
        reply.send(Buffer.from(body.buffer, body.byteOffset, body.byteLength))
      } catch (error) {
        reply.send(error)
      }
    }

    function sendBody(request: FastifyRequest, reply: FastifyReply, key: string | undefined, value: unknown, self: string) {
      if (sendKept(reply, key)) return reply
      const context = contextOf(request, value, self)
      const { name } = represents(request)
      const text = textOf(value)
      if (text !== undefined && name !== undefined) {
        void sendDeferred(request, reply, name, text, context)
        return reply
      }
      const body = selected(request).write(value as never, context)
      if (key === undefined) return reply.send(body)
      const link = reply.getHeader('link')
      const bytes = Buffer.from(body)
      app.bodies.set(key, { bytes, link: link === undefined ? undefined : String(link) })
      return reply.send(bytes)
    }

    /** A write's answer, as Prefer wants it (RFC 7240 section 4.2). False: the representation is still to be sent. */
    function sendMinimal(request: FastifyRequest, reply: FastifyReply, uri: string): boolean {
      const preferred = request.preferredReturn()
      if (preferred) reply.header('preference-applied', `return=${preferred}`)
      if (preferred !== 'minimal') {
        // What the body is a representation of (RFC 9110 section 8.7): the answer's validators belong to it.
        if (reply.statusCode < 300) reply.header('content-location', uri)
        return false
      }
      // What was sent is stored in a form of our own, so a tag here would name other bytes than the client has (RFC 9110 section 9.3.4).
      if (request.method === 'PUT') reply.removeHeader('etag').removeHeader('last-modified')
      if (reply.statusCode === 200) reply.code(204)
      reply.removeHeader('content-type').send()
      return true
    }

    app.decorateReply('revalidate', function (this: FastifyReply, validators: Validators): boolean {
      const known = tagged(this.request, pathOf(this.request.url), validators)
      setHeaders(this.request, this, known)
      if (isNotModified(this.request, known)) {
        // Without Link: its next page is not known, and a cache would put what a 304 has in place of what it holds (RFC 9111 section 3.2).
        // It cost next to nothing. A client that shows `*` has nothing to revalidate, and would go on for free for ever.
        if (this.request.headers['if-none-match']?.trim() !== '*') this.request.charge(-1)
        this.code(304).removeHeader('content-type').send()
        return true
      }
      return sendKept(this, bodyKey(this.request, known))
    })

    app.decorateReply('represent', function (this: FastifyReply, value: unknown, uri = this.request.url): FastifyReply {
      const { request } = this
      const path = pathOf(uri)
      const validators = represents(request).validators?.(value as never, request.context())
      const known = validators && tagged(request, path, validators)
      setHeaders(request, this, known)
      setLinks(request, this, value, uri)
      if (isNotModified(request, known)) return this.code(304).removeHeader('content-type').send()
      if (!isSafe(request.method) && sendMinimal(request, this, path)) return this
      return sendBody(request, this, bodyKey(request, known), value, uri)
    })

    app.decorateReply('created', function (this: FastifyReply, uri: string, value: unknown): FastifyReply {
      return this.code(201).header('location', uri).represent(value, uri)
    })
  },
  {
    name: 'representation',
    fastify: '5.x',
    dependencies: ['admission', 'documents', 'negotiation', 'preconditions', 'prefer', 'rate-limit', 'caching']
  }
)

function pathOf(uri: string): string {
  const query = uri.indexOf('?')
  return query === -1 ? uri : uri.slice(0, query)
}

/** Never later than Date (RFC 9110 section 8.8.2.1), also where the clock was put back since. Node's Date may be of a second ago. */
function lastModified(at: number): string {
  const now = Date.now()
  return new Date(at > now ? now - 1_000 : at).toUTCString()
}

function modified({ modifiedAt }: Pick<Validators, 'modifiedAt'>): { modifiedAt?: number } {
  return modifiedAt === undefined ? {} : { modifiedAt }
}
