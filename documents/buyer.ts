/** Reads documents in the vocabularies of buyers' systems as purchase orders of the shop's own. */

import { hash } from 'node:crypto'
import type { AnswerBasis, BuyerDocument, BuyerFault, BuyerRequest, LineChangeDraft, OrderDraft } from '../dialects/buyer-document.ts'
import { blankDoctype, firstTagName, startsAsCxml } from '../dialects/cxml/doctype.ts'
import { isCxml, readCxml } from '../dialects/cxml/read.ts'
import { quotesSecret } from '../dialects/cxml/secrets.ts'
import { cxmlWords } from '../dialects/cxml/words.ts'
import { objectionsOf } from '../dialects/faults.ts'
import { hiddenSecrets } from '../dialects/hidden-secrets.ts'
import { maskRanges } from '../dialects/occurrences.ts'
import { type BuiltOrder, buildPurchaseOrder } from '../dialects/purchase-order.ts'
import type { BuyerSubmission } from '../dialects/submission.ts'
import { isUbl, readUbl, ublRoots } from '../dialects/ubl/read.ts'
import { ublWords } from '../dialects/ubl/words.ts'
import { cxmlPieces, ublPieces } from '../dialects/units.ts'
import { locationOf, readElements, type XmlElement } from '../dialects/xml-element.ts'
import { mostFaults } from '../domain/errors.ts'
import type { LineChange } from '../domain/line-changes.ts'
import type { PurchaseOrder } from '../domain/order.ts'
import { Problem } from '../http/problem.ts'
import type { DocumentSchema, LocatedFault, Report } from '../schemas/document.ts'
import { childrenOf, type Element, type Place } from '../schemas/element.ts'
import { excessItems } from '../schemas/item-limit.ts'
import { writeLines } from '../schemas/xml.ts'
import type { XmlGate } from '../xml/gate.ts'
import { type Encodings, type Guarded, guard, namespacedLimits } from '../xml/guard.ts'
import { asTag, type Spell } from '../xml/messages.ts'
import { BuyerProblem } from './buyer-problem.ts'
import type { DocumentLimits, Location, ReadDocument, ReadJob } from './job.ts'
import { gateTree, originOf } from './trees.ts'

/** The body of a request whose document has no order, such as a cancellation. */
const noOrder: Pick<PurchaseOrder, 'notes' | 'extensions' | 'items'> = { notes: [], extensions: [], items: [] }

interface Parsed {
  readonly document: BuyerDocument
  readonly built: BuiltOrder | undefined
  readonly source: string
  /** The number of order lines, if there are so many that some were not read; otherwise 0. */
  readonly tooManyLines: number
}

/**
 * Reads a document whose root has the name of a buyer's vocabulary (`hasBuyersRoot`). Business faults are part of what it returns
 * (`objections`), so that the shop lists them together with its own.
 * @returns undefined when the document is in another vocabulary
 * @throws BuyerProblem, and Problem while the document is not known to be a buyer's
 */
export function readBuyerDocument(
  job: ReadJob,
  bytes: Buffer,
  schema: DocumentSchema<unknown>,
  gate: XmlGate,
  invalid: (faults: readonly LocatedFault[]) => Problem
): ReadDocument | undefined {
  const parsed = parse(bytes, job.limits, job.isAscii)
  if (!parsed) return undefined
  const { document, built } = parsed
  const digest = hash('sha256', bytes)
  const own = [...document.faults, ...(built?.faults ?? [])].slice(0, mostFaults)
  const buyer = { ...submissionOf(parsed), ...(own.length > 0 ? { objections: objectionsOf(own) } : {}) }
  if (!built) return { text: JSON.stringify({ ...noOrder, hasDocument: true }), digest, buyer }
  const reported: LocatedFault[] = []
  const report: Report = (at, detail, code) => reported.push({ detail, ...(code === undefined ? {} : { code }), ...placeOf(built, at) })
  const items = Math.max(childrenOf(built.root, 'item').length, parsed.tooManyLines)
  const excess = excessItems(items, schema, job.limits.maxOrderItems)
  if (excess) report(excess.at, excess.detail, excess.code)
  const invalidities = excess ? [] : locatedFaults(built, schemaFaults(built, document.answer.vocabulary, schema, gate))
  // A document that does not match the schema cannot be read, even if its own faults give the reason.
  const value = excess || invalidities.length > 0 ? undefined : schema.read(built.root, report)
  if (value === undefined || reported.length > 0) {
    const faults = [...own, ...withoutRepeats(own, invalidities), ...reported]
    throw new BuyerProblem(invalid(byLine(faults)), buyer)
  }
  return { text: JSON.stringify({ ...withTerms(value as PurchaseOrder, built), hasDocument: true }), digest, buyer }
}

/** Finds places of a document that was read before. Undefined when it is in another vocabulary. */
export function locateInBuyerDocument(bytes: Buffer, limits: DocumentLimits, places: readonly Place[]): readonly Location[] | undefined {
  const parsed = parse(bytes, limits)
  if (!parsed) return undefined
  const { built } = parsed
  return places.map((place) => (built ? placeOf(built, place) : {}))
}

/** Whether the root element has the name of a buyer's document. Its namespace is not known yet. */
export function hasBuyersRoot(bytes: Buffer): boolean {
  const name = firstTagName(bytes)
  return name !== undefined && (name === 'cXML' || ublRoots.includes(localName(name)))
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

const lineNames = new Set([ublWords['item'], cxmlWords['item']])

/**
 * Reads the elements of a document, but at most twice as many order lines as an order may have: 195,000 empty lines took 340 MB. A
 * document with more lines is refused, even if most of them are deleted and would not become items.
 */
function readRoot(guarded: Guarded, { maxOrderItems }: DocumentLimits): { readonly root: XmlElement; readonly tooManyLines: number } {
  let tooManyLines = 0
  const root = readElements(guarded, (local, { nth }) => {
    if (nth <= 2 * maxOrderItems || !lineNames.has(local)) return false
    tooManyLines = Math.max(tooManyLines, nth)
    return true
  })
  return { root, tooManyLines }
}

function parse(bytes: Buffer, limits: DocumentLimits, isAscii = false): Parsed | undefined {
  const encodings = { mayDeclareAscii: true, isAscii }
  if (startsAsCxml(bytes)) return parseCxml(bytes, limits, encodings)
  const guarded = guard(bytes, limits.marks, namespacedLimits, encodings)
  const { root, tooManyLines } = readRoot(guarded, limits)
  if (!isUbl(root)) return undefined
  const document = readUbl(root, guarded.source)
  return { document, built: buildFrom(document.request, ublPieces), source: guarded.source, tooManyLines }
}

/** A cXML document is answered in cXML even if it is malformed. */
function parseCxml(bytes: Buffer, limits: DocumentLimits, encodings: Encodings): Parsed | undefined {
  const { bytes: blanked, doctype } = blankDoctype(bytes)
  const echo = doctype === undefined ? {} : { doctype }
  try {
    const guarded = guard(blanked, limits.marks, namespacedLimits, encodings)
    const { root, tooManyLines } = readRoot(guarded, limits)
    if (!isCxml(root)) return undefined
    const source = doctype === undefined ? guarded.source : bytes.toString('utf8')
    const document = readCxml(root, source)
    const answer: AnswerBasis = { ...document.answer, ...withoutSecrets(echo, source, document.secrets) }
    return { document: { ...document, answer }, built: buildFrom(document.request, cxmlPieces), source, tooManyLines }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new BuyerProblem(withoutQuotation(error, bytes), { kind: 'unsupported', answer: { vocabulary: 'cxml', ...echo } })
  }
}

/** Replaces the message of a problem that may quote a part of a secret. Messages about malformed XML quote the document. */
function withoutQuotation(problem: Problem, bytes: Buffer): Problem {
  if (!quotesSecret(bytes.toString('utf8'), problem.message)) return problem
  const detail = 'The XML is not well-formed near a secret. Write & as &amp; and < as &lt;.'
  const faults: readonly LocatedFault[] = problem.faults
  return new Problem(problem.code, detail, { faults: faults.map((fault) => ({ ...fault, detail })) })
}

/** The DOCTYPE is answered as it was sent, unless it repeats a secret. */
function withoutSecrets(
  echo: { readonly doctype?: string },
  source: string,
  secrets: BuyerDocument['secrets']
): { readonly doctype?: string } {
  if (echo.doctype === undefined || secrets.length === 0) return echo
  const { doctype } = blankDoctype(Buffer.from(maskRanges(source, secrets)))
  return doctype === undefined ? {} : { doctype }
}

function buildFrom(request: BuyerRequest, pieces: readonly string[]): BuiltOrder | undefined {
  if (request.kind === 'change-lines') {
    const order: OrderDraft = { ...request.order, items: request.lines.map(({ item }) => item) }
    return order.items.length === 0 ? undefined : buildPurchaseOrder(order, { pieces, isChange: true })
  }
  return 'order' in request ? buildPurchaseOrder(request.order, { pieces }) : undefined
}

function submissionOf({ document: { request, answer, sender, secrets, isTest }, source }: Parsed): BuyerSubmission {
  return {
    kind: request.kind,
    answer,
    ...('number' in request ? { number: request.number.text } : {}),
    ...('revision' in request && request.revision ? { revision: request.revision.text } : {}),
    ...('placesUnknown' in request && request.placesUnknown ? { placesUnknown: true } : {}),
    ...('copies' in request && request.copies ? { copies: true } : {}),
    ...(request.kind === 'change-lines' ? { lines: request.lines.map(lineChangeOf) } : {}),
    ...(sender ? { sender } : {}),
    ...(isTest ? { isTest } : {}),
    ...('revision' in request && request.revision ? { revisionAt: locationOf(request.revision.from, request.revision.attribute) } : {}),
    ...numberAt(request),
    ...masked(source, [...secrets, ...hiddenSecrets(source)])
  }
}

function lineChangeOf({ kind, item: { lineId, destination: { address, recipient, place } = {} } }: LineChangeDraft): LineChange {
  const destination = {
    ...(address && { hasAddress: true as const }),
    ...(place === undefined ? {} : { place }),
    ...(recipient && { hasRecipient: true as const })
  }
  return { kind, ...(lineId && { lineId: lineId.text }), ...(address || recipient ? { destination } : {}) }
}

function numberAt(request: BuyerRequest): Pick<BuyerSubmission, 'numberAt'> {
  const number = 'number' in request ? request.number : 'order' in request ? request.order.orderNumber : undefined
  return number ? { numberAt: locationOf(number.from, number.attribute) } : {}
}

function masked(source: string, secrets: BuyerDocument['secrets']): Pick<BuyerSubmission, 'masked'> {
  return secrets.length > 0 ? { masked: Buffer.from(maskRanges(source, secrets)) } : {}
}

function spellOf(vocabulary: AnswerBasis['vocabulary']): Spell {
  const words = vocabulary === 'ubl' ? ublWords : cxmlWords
  return (name) => words[name] ?? asTag(name)
}

function schemaFaults(
  { root }: BuiltOrder,
  vocabulary: AnswerBasis['vocabulary'],
  schema: DocumentSchema<unknown>,
  gate: XmlGate
): readonly LocatedFault[] {
  if (gate.isValid(writeLines(root), schema.xsd, root.name)) return []
  return gateTree({ root, faults: [], isWhole: true }, spellOf(vocabulary), schema, gate)
}

function locatedFaults(built: BuiltOrder, faults: readonly LocatedFault[]): readonly LocatedFault[] {
  return faults.map((fault) => ({ ...fault, ...placeAt(built, fault.path ?? '') }))
}

/** Both the reading and the schema report a missing value. The fault of the reading stays, because it has the sender's words. */
function withoutRepeats(own: readonly BuyerFault[], faults: readonly LocatedFault[]): readonly LocatedFault[] {
  const isWithin = (path: string, outer: string) => path === outer || path.startsWith(`${outer}/`)
  return faults.filter(({ path = '' }) => !own.some((fault) => isWithin(fault.path, path)))
}

function placeOf(built: BuiltOrder, place: Place): Location {
  const [name, position, ...within] = place
  const found = name === 'item' ? built.origins[Number(position) - 1]?.get(within.join('/')) : undefined
  const location = placeAt(built, originOf(built.root, place).path ?? '')
  return found === undefined ? location : { ...location, ...built.locate(found) }
}

/** The location of the element with an origin: its line in the document, its path, and the buyer's number of its order line. */
function placeAt({ root, locate }: BuiltOrder, origin: string): Location {
  const item = root.children?.find((element) => element.name === 'item' && isIn(element, origin))
  const lineId = item?.children?.find(({ name }) => name === 'line-id')?.text
  return { ...locate(origin), ...(lineId === undefined ? {} : { item: lineId }) }
}

function isIn({ origin: own, children = [] }: Element, origin: string): boolean {
  return own === origin || children.some((child) => child.origin === origin)
}

function byLine(faults: readonly LocatedFault[]): readonly LocatedFault[] {
  return faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
}

function withTerms(order: PurchaseOrder, { quoted }: BuiltOrder): PurchaseOrder {
  return { ...order, items: order.items.map((item, i) => ({ ...item, ...(quoted[i] ? { quoted: quoted[i] } : {}) })) }
}
