import { isAscii, isUtf8 } from 'node:buffer'
import { Problem } from '../http/problem.ts'
import { documentLimits } from '../schemas/document-limits.ts'
import { lineAt } from '../schemas/line-feeds.ts'
import { scan } from './scan.ts'
import { type Limits, noLimits, type Tag } from './tag.ts'

const limits = { ...documentLimits, prefixes: 4000 }

/**
 * Other limits for the vocabularies of buyers' systems. Every name in them has a prefix, so the declarations in scope are
 * bounded instead: 100,000 prefixed names take libxml2 23 ms with 100 declarations in scope, and no extra time with 4. An
 * embedded file is one long text.
 */
export const namespacedLimits: Partial<Limits> = {
  prefixes: noLimits.prefixes,
  declarations: 64,
  longTexts: new Set(['EmbeddedDocumentBinaryObject'])
}

/** The encodings that a document may have besides UTF-8. */
export interface Encodings {
  /** The document may declare US-ASCII, which is a part of UTF-8. */
  readonly mayDeclareAscii?: boolean
  /** Its Content-Type says that it is in US-ASCII. */
  readonly isAscii?: boolean
}

/** A document in UTF-8, without DOCTYPE, whose tags are well-formed. */
export interface Guarded {
  readonly source: string
  readonly tags: readonly Tag[]
}

/**
 * Refuses XML that could make a parser misread it, fetch something or take too long, before any parser sees it: other
 * encodings, NUL, DOCTYPE (and with it every custom entity: CWE-611, CWE-776), huge tags, too much markup.
 * @param marks the maximum of `Limits.marks`; files of the operator have no limit
 * @param others limits that replace the usual ones
 * @throws Problem `malformed-document` or `forbidden-xml`, with the line
 */
export function guard(bytes: Buffer, marks?: number, others: Partial<Limits> = {}, encodings: Encodings = {}): Guarded {
  if (bytes.length === 0) throw new Problem('malformed-document', 'The body is empty: an XML document is needed.')
  refuseOtherEncodings(bytes)
  // This comes before the UTF-8 check: a wrong declared encoding is a better error than the first invalid byte.
  const declared = refuseDeclaration(bytes, encodings.mayDeclareAscii ? ['utf-8', 'us-ascii'] : ['utf-8'])
  if (encodings.isAscii || declared === 'us-ascii') requireAscii(bytes)
  refuseBrokenText(bytes)
  const source = bytes.toString('utf8')
  return { source, tags: scan(source, { ...noLimits, ...limits, ...others, ...(marks === undefined ? {} : { marks }) }) }
}

/** @throws Problem `forbidden-xml` for a document that is said to be in US-ASCII and is not */
function requireAscii(bytes: Buffer): void {
  if (isAscii(bytes)) return
  const offset = bytes.findIndex((byte) => byte > 0x7f)
  const detail =
    'The document is said to be in US-ASCII, but has a character here that is not. Send it as UTF-8, and declare UTF-8 or no encoding.'
  throw forbidden(detail, lineAt(bytes.toString('latin1', 0, offset), offset))
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}

function forbidden(detail: string, line = 1): Problem {
  return new Problem('forbidden-xml', detail, { faults: [{ detail, line }] })
}

/** Encodings that are not even ASCII-compatible, by a document's first four bytes in hexadecimal (XML 1.0 appendix F). */
const otherEncodings: readonly (readonly [start: RegExp, name: string])[] = [
  [/^(0000feff|fffe0000|0000003c|3c000000)/, 'UTF-32'],
  [/^(feff|fffe|003c|3c00)/, 'UTF-16'],
  [/^4c6fa794/, 'EBCDIC']
]

/** The encoding declaration is searched in this many bytes from the start. */
const declarationSearchBytes = 1024

const declaredEncoding = /<\?xml[ \t\r\n][^>]*?encoding[ \t\r\n]*=[ \t\r\n]*["']([\w.-]+)/

function refuseOtherEncodings(bytes: Buffer): void {
  const start = bytes.toString('hex', 0, 4)
  const name = otherEncodings.find(([pattern]) => pattern.test(start))?.[1]
  if (!name) return
  const declared = declaredEncoding.exec(bytes.toString('latin1', 0, declarationSearchBytes).replaceAll('\0', ''))?.[1]
  throw forbidden(
    declared === undefined
      ? `The document is in ${name}; send it in UTF-8.`
      : `The document is in ${name} and declares the encoding ${quoted(declared)}; send it in UTF-8 and declare that, or nothing.`
  )
}

function refuseBrokenText(bytes: Buffer): void {
  const nul = bytes.indexOf(0)
  if (nul >= 0)
    throw forbidden('The document contains a NUL byte. It is damaged, or not in UTF-8.', lineAt(bytes.toString('latin1', 0, nul), nul))
  if (!isUtf8(bytes)) {
    const read = Buffer.from(bytes.toString('utf8'))
    const offset = read.findIndex((byte, i) => byte !== bytes[i])
    throw forbidden('The document is not valid UTF-8.', lineAt(bytes.toString('latin1', 0, offset), offset))
  }
}

const declaration = new RegExp(
  [
    /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"([\w.:-]+)"|'([\w.:-]+)')/,
    /(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"([\w.-]+)"|'([\w.-]+)'))?/,
    /(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>$/
  ]
    .map(({ source }) => source)
    .join('')
)

/** @returns the declared encoding in lower case */
function refuseDeclaration(bytes: Buffer, accepted: readonly string[]): string | undefined {
  const start = bytes.toString('hex', 0, 3) === 'efbbbf' ? 3 : 0
  if (!/^<\?xml[ \t\r\n?]/.test(bytes.toString('latin1', start, start + 6))) return undefined
  // A declaration is ASCII only, and nearly all single-byte encodings have ASCII in common with UTF-8.
  const found = declaration.exec(bytes.toString('latin1', start, bytes.indexOf('?>', start) + 2))
  if (!found) {
    const detail = 'The XML declaration must look like <?xml version="1.0" encoding="UTF-8"?>.'
    throw new Problem('malformed-document', detail, { faults: [{ detail, line: 1 }] })
  }
  const version = found[1] ?? found[2]
  const encoding = found[3] ?? found[4]
  if (encoding !== undefined && !accepted.includes(encoding.toLowerCase())) {
    throw forbidden(`The document declares the encoding ${quoted(encoding)}; send it in UTF-8 and declare that, or nothing.`)
  }
  if (version !== '1.0') throw forbidden(`The document declares XML ${quoted(version ?? '')}; send XML 1.0.`)
  return encoding?.toLowerCase()
}
