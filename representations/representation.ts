import { hash } from 'node:crypto'
import type { Caller } from '../domain/caller.ts'
import type { Order } from '../domain/order.ts'
import type { ShipmentSummary } from '../domain/shipping.ts'
import type { Element } from '../schemas/element.ts'
import { toJson } from '../schemas/json.ts'
import type { ElementType } from '../schemas/vocabulary.ts'
import { writeXml } from '../schemas/xml.ts'
import type { Link } from './links.ts'
import type { Notice } from './notice.ts'
import { atOnce, type Pieces } from './pieces.ts'

/** The facts that a writer needs besides the value. The context never has the Host header, so that a body can be cached by its URI. */
export interface Context {
  /** The path of BASE_URL: empty, or such as `/shop`. */
  readonly base: string
  readonly currency: string
  /** The shop's name on pages. */
  readonly shop: string
  readonly caller: Caller
  /** The path and query of the resource. */
  readonly self: string
  /** Whether a form was posted, so that reloading the answer sends it again. */
  readonly isFormPost?: boolean
  /**
   * The fields of the form that was posted, if all of them were kept. A page can send them again, because browsers may have
   * forgotten them.
   */
  readonly typed?: readonly (readonly [name: string, value: string])[]
  /** A notice above the page's content. */
  readonly notice?: Notice
  /** The last shipments of the order, which its page shows. */
  readonly shipments?: readonly ShipmentSummary[]
  /** The order of the shipment, which its page shows. */
  readonly order?: OrderOfShipment
  /** The entity tag of the value's XML, which the page's forms send back in `_if-match`. */
  readonly formTag?: string | undefined
}

/** A large order is not read for the page of a shipment, so its parties are missing. */
export interface OrderOfShipment extends Pick<Order, 'id' | 'version' | 'modifiedAt' | 'orderNumber' | 'buyer' | 'shipTo'> {
  readonly isLarge: boolean
}

/** One media type of a resource. */
export interface Representation<T> {
  /** Without parameters. */
  readonly mediaType: string
  /** The value of Content-Type. */
  readonly contentType: string
  /** The end of its entity tags, so that two representations of one version never share a tag. */
  readonly suffix: string
  /** Whether it is another media type for an earlier variant: it is sent only to clients that ask for it by name. */
  readonly alias?: true
  readonly write: (value: T, context: Context) => string
  /** Does the same as `write`, in pieces. Undefined if no value takes long to write. */
  readonly writeInPieces?: (value: T, context: Context) => Pieces<string>
}

/** Writes a value in one media type. */
type Writer<T> = Pick<Representation<T>, 'write' | 'writeInPieces'>

export function writerInPieces<T>(writeInPieces: (value: T, context: Context) => Pieces<string>): Writer<T> {
  return { write: (value, context) => atOnce(writeInPieces(value, context)), writeInPieces }
}

/** Names one version of a resource. The time distinguishes it from the same number in a database that was restored or made anew. */
export function versionText(version: number | string, modifiedAt: number): string {
  return `${version}.${modifiedAt.toString(36)}`
}

/** The validators of a resource, which conditional requests compare (RFC 9110 section 8.8). */
export interface Validators {
  /** Identifies one state of the resource, as this caller sees it. */
  readonly version: string
  /** Identifies what only the HTML page shows this caller, for example a form. */
  readonly page?: string
  /** Milliseconds since the epoch. */
  readonly modifiedAt?: number
  /** The state never changes, so a private cache need not ask again. */
  readonly isFinal?: boolean
  /** The representation may be of a later state than `version`, so its entity tag is weak (RFC 9110 section 8.8.1). */
  readonly isWeak?: true
}

export interface Representations<T> {
  /** Its name in the document process, if its values can be too large for the serving thread to write. */
  readonly name?: string
  /** In order of preference, which decides between media types of equal quality: XML, HTML, JSON. */
  readonly variants: readonly Representation<T>[]
  readonly validators?: (value: T, context: Context) => Validators | undefined
  /** The validators have `modifiedAt`, so `Last-Modified` is sent, and conditions may name a date. */
  readonly isDated?: true
  /** Whether the value is shown only once, for example with a secret. It is then sent whatever `Prefer` says, and has no validators. */
  readonly isShownOnce?: (value: T) => boolean
  /** The links that are also sent in the Link header field (RFC 8288): links of a list to its other pages, and links of one resource. */
  readonly links?: (value: T, context: Pick<Context, 'base'>) => readonly Link[]
  /** The name of its XML schema under /schemas/. */
  readonly schema?: string
}

/** Representations that the document process can write. */
export type WritableRepresentations<T> = Representations<T> & { readonly name: string }

export function variantOf<T>(representations: Representations<T> | undefined, mediaType: string): Representation<T> | undefined {
  return representations?.variants.find((variant) => variant.mediaType === mediaType)
}

/** The `page` validator of a page whose forms name the customer who is signed in. */
export function pageOf(caller: Caller): { readonly page?: string } {
  return caller.kind === 'key' ? { page: hash('sha256', caller.customer).slice(0, 8) } : {}
}

export interface Represented<T> extends Omit<Representations<T>, 'variants'> {
  /** The type of the root element, which decides what is an array in JSON. */
  readonly type: ElementType
  readonly element: (value: T, context: Context) => Element
  readonly html?: Representation<T>['write']
}

const utf8 = (mediaType: string) => `${mediaType}; charset=utf-8`

const html = 'text/html'

/** The value of Content-Type of a page. */
export const pageContentType = utf8(html)

function htmlOf<T>(writer: Writer<T>): Representation<T> {
  return { mediaType: html, contentType: pageContentType, suffix: 'html', ...writer }
}

/** A page for people. */
export function page<T>(write: Representation<T>['write']): Representation<T> {
  return htmlOf({ write })
}

/** The media types of a resource. `text/xml` is for older clients. */
export function variantsOf<T>({
  xml,
  html,
  json
}: Readonly<Record<'xml' | 'json', Writer<T>>> & { readonly html?: Writer<T> | undefined }): Representation<T>[] {
  return [
    { mediaType: 'application/xml', contentType: utf8('application/xml'), suffix: 'xml', ...xml },
    { mediaType: 'text/xml', contentType: utf8('text/xml'), suffix: 'text', alias: true, ...xml },
    ...(html ? [htmlOf(html)] : []),
    { mediaType: 'application/json', contentType: utf8('application/json'), suffix: 'json', ...json }
  ]
}

/** Makes the representations of a resource: XML and JSON from the same elements, HTML from a view. */
export function makeRepresentations<T>(resource: Represented<T> & { readonly name: string }): WritableRepresentations<T>
export function makeRepresentations<T>(resource: Represented<T>): Representations<T>
export function makeRepresentations<T>({ type, element, html, ...rest }: Represented<T>): Representations<T> {
  const xml = (value: T, context: Context) => writeXml(element(value, context))
  const json = (value: T, context: Context) => `${JSON.stringify(toJson(element(value, context), type), null, 2)}\n`
  return { variants: variantsOf({ xml: { write: xml }, html: html && { write: html }, json: { write: json } }), ...rest }
}

/** Formats a time in UTC (RFC 3339), to the second like the dates of HTTP. */
export function instant(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
