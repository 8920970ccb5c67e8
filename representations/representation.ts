import { createHash } from 'node:crypto'
import type { Caller } from '../domain/caller.ts'
import type { Element } from '../schemas/element.ts'
import { toJson } from '../schemas/json.ts'
import type { ElementType } from '../schemas/vocabulary.ts'
import { writeXml } from '../schemas/xml.ts'
import type { Link } from './links.ts'
import type { Notice } from './views.ts'

/** What a writer may know besides the value: never the Host header, so that a body can be cached by its URI. */
export interface Context {
  /** The path under which the service lives: empty, or like `/shop`. */
  readonly base: string
  readonly currency: string
  /** The shop's name, as people see it. */
  readonly shop: string
  readonly caller: Caller
  /** Path and query of what is represented. */
  readonly self: string
  /** Whether a page's form was posted: who reloads the answer sends it again. */
  readonly isFormPost?: boolean
  /** What a page says above its content. */
  readonly notice?: Notice
  /** What the forms of a page send back in `_if-match`: the entity tag of the value's XML. */
  readonly formTag?: string | undefined
}

/** One media type of a resource. */
export interface Representation<T> {
  /** Without parameters. */
  readonly mediaType: string
  /** As it is sent in Content-Type. */
  readonly contentType: string
  /** What its entity tags end in: two representations of one version never share a tag. */
  readonly suffix: string
  /** Another name for an earlier one: for who asks for it, never for who takes anything. */
  readonly alias?: true
  readonly write: (value: T, context: Context) => string
}

/** What a conditional request compares (RFC 9110 section 8.8). */
export interface Validators {
  /** Names one state of the resource, as this caller may see it. */
  readonly version: string
  /** Names, besides, what only the HTML page shows this caller: a form, for example. */
  readonly page?: string
  /** Milliseconds since the epoch. */
  readonly modifiedAt?: number
}

export interface Representations<T> {
  /** By which the document process knows it, if its values can be too large for the thread that serves. */
  readonly name?: string
  /** In the order in which a tie is decided: XML, HTML, JSON. */
  readonly variants: readonly Representation<T>[]
  readonly validators?: (value: T, context: Context) => Validators | undefined
  /** A page's links to others of its list: a client can follow them by the Link header (RFC 8288), without reading the body. */
  readonly links?: (value: T) => readonly Link[]
  /** The schema of its XML: its name under /schemas/. */
  readonly schema?: string
}

/** For `page`: a page whose forms say whose they are differs by who is signed in. */
export function pageOf(caller: Caller): { readonly page?: string } {
  return caller.kind === 'key' ? { page: createHash('sha256').update(caller.customer).digest('hex').slice(0, 8) } : {}
}

const utf8 = (mediaType: string) => `${mediaType}; charset=utf-8`

/**
 * XML and JSON by the same elements, HTML by a view. `text/xml` is what older clients ask for.
 * @param type what the XSD says of the root element: it decides what is an array in JSON
 */
export function represent<T>(options: {
  readonly name?: string
  readonly type: ElementType
  readonly element: (value: T, context: Context) => Element
  readonly html?: (value: T, context: Context) => string
  readonly validators?: (value: T, context: Context) => Validators | undefined
  readonly links?: (value: T) => readonly Link[]
  readonly schema?: string
}): Representations<T> {
  const { type, element, html } = options
  const xml = (value: T, context: Context) => writeXml(element(value, context))
  const json = (value: T, context: Context) => `${JSON.stringify(toJson(element(value, context), type), null, 2)}\n`
  return {
    variants: [
      { mediaType: 'application/xml', contentType: utf8('application/xml'), suffix: 'xml', write: xml },
      { mediaType: 'text/xml', contentType: utf8('text/xml'), suffix: 'text', alias: true, write: xml },
      ...(html ? [{ mediaType: 'text/html', contentType: utf8('text/html'), suffix: 'html', write: html }] : []),
      { mediaType: 'application/json', contentType: utf8('application/json'), suffix: 'json', write: json }
    ],
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.validators ? { validators: options.validators } : {}),
    ...(options.links ? { links: options.links } : {}),
    ...(options.schema === undefined ? {} : { schema: options.schema })
  }
}

/** RFC 3339 in UTC, to the second: what HTTP's dates can say too. */
export function instant(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
