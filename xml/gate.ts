import libxmljs, { type Document } from 'libxmljs2'
import { Problem } from '../http/problem.ts'
import type { LocatedFault } from '../schemas/document.ts'
import { countLineFeeds } from '../schemas/line-feeds.ts'
import type { Xsd } from '../schemas/vocabulary.ts'
import { join } from './batch.ts'
import { faultsOf, isSmall } from './faults.ts'
import { type Guarded, guard } from './guard.ts'
import { asTag, explainRoot, type Spell } from './messages.ts'
import { scan } from './scan.ts'
import { batchPartFor, partFor, valuesPartFor } from './schema-part.ts'
import { noLimits } from './tag.ts'

/**
 * Parses and validates XML with libxml2. This is the only file that may import libxmljs2 (unmaintained; CVE-2024-34393,
 * CVE-2024-34394). It never walks the parsed tree, and the service loads it in the document process only.
 */
export interface XmlGate {
  /**
   * Parses untrusted bytes. `guard` checks them first.
   * @param guarded what `guard` made of these bytes; without it, they may have any number of marks
   * @throws Problem `malformed-document` or `forbidden-xml`, with the line
   */
  parse(bytes: Buffer, guarded?: Guarded): Guarded
  /**
   * Validates a document. @returns its first 100 errors, each with line and path
   * @param spell how the errors write element names; by default as tags
   */
  validate(parsed: Guarded, xsd: Xsd, roots: readonly string[], spell?: Spell): readonly LocatedFault[]
  /**
   * Whether a document that this service wrote is valid. It is for documents that have few errors, if any: libxml2 takes time
   * for each.
   */
  isValid(source: string, xsd: Xsd, root: string): boolean
  /**
   * Parses and validates small documents as one, because libxml2 compiles the schema for each validation, which takes longer
   * than the rest. `parse` and `validate` have nothing left to do for those that are valid. The others are left to them.
   */
  validateTogether(guarded: readonly Guarded[], xsd: Xsd, roots: readonly string[]): void
}

/** Prepares a document that this service wrote, so that it can be validated. */
export function ownXml(source: string): Guarded {
  return { source, tags: scan(source, noLimits) }
}

/** The documents are untrusted, so never enable more: no network, entities, DTD, XInclude, recovery or huge trees. */
const options = { nonet: true, compact: true, big_lines: true, encoding: 'UTF-8' }

function parseBytes(bytes: Buffer): Document {
  // The types allow only a string, but libxmljs2 passes a Buffer to libxml2 unchanged.
  return libxmljs.parseXml(bytes as unknown as string, options)
}

/**
 * The most bytes that the trees of earlier documents may take while another one is parsed. A tree takes up to 50 times as much as its
 * document. To collect more often takes a third of the time of a large document.
 */
const mostOfOthers = 16 * 1024 * 1024

function syntaxProblem(error: unknown): Problem {
  const { message = '', line } = error as { message?: string; line?: number }
  const reason = `${message.trim().replace(/^xml[A-Z]\w* ?: ?/, '') || 'it cannot be read'}.`
  const detail = `The XML is not well-formed${line === undefined ? '' : ` at line ${line}`}: ${reason}`
  return new Problem('malformed-document', detail, { faults: [{ detail: reason, ...(line === undefined ? {} : { line }) }] })
}

/** How often a batch is tried, each time without the documents that had errors. An invalid document costs the others one attempt. */
const mostAttempts = 3

/** Documents with more lines are read alone. libxml2 counts 65,535 lines, and a batch has at most 64 documents. */
const maxLines = 1_000

/** The lines of the errors that libxml2 finds in a document; undefined if it is valid. */
function errorLines(xml: string, schema: Document): readonly number[] | undefined {
  try {
    const document = parseBytes(Buffer.from(xml))
    const { errors } = document
    if (errors.length === 0 && !document.getDtd() && document.validate(schema)) return undefined
    return [...errors, ...(document.validationErrors ?? [])].map(({ line }) => line ?? 0)
  } catch (error) {
    return [(error as { line?: number }).line ?? 0]
  }
}

/**
 * @param collectGarbage frees the trees of earlier documents. libxmljs2 frees a tree when V8 collects its object, and by itself V8 lets
 * them wait until they take 64 MB.
 */
export function makeXmlGate(collectGarbage: () => void = () => undefined): XmlGate {
  /**
   * The libxml2 documents of small ones that were parsed. They never leave this file. A large document is parsed again when its parts
   * have no faults, so that its first tree does not stay beside theirs.
   */
  const documents = new WeakMap<Guarded, Document>()
  const validTogether = new WeakSet<Guarded>()
  const schemas = new Map<string, Document>()

  /** @param use the size of a batch, or `values`; without it, for one document alone */
  const schemaOf = (xsd: Xsd, roots: readonly string[], use?: number | 'values'): Document => {
    const name = [use, xsd.name, ...roots].join(' ')
    const known = schemas.get(name)
    if (known) return known
    const source = xsd.source.toString('utf8')
    const part = typeof use === 'number' ? batchPartFor(source, roots, use) : use ? valuesPartFor(source, roots) : partFor(source, roots)
    const made = libxmljs.parseXml(part, options)
    schemas.set(name, made)
    return made
  }

  const parseWithRoom = (bytes: Buffer): Document => {
    if (libxmljs.memoryUsage() > mostOfOthers) collectGarbage()
    return parseBytes(bytes)
  }

  return {
    parse(bytes, parsed = guard(bytes)) {
      if (validTogether.has(parsed)) return parsed
      let document: Document
      try {
        document = parseWithRoom(bytes)
      } catch (error) {
        throw syntaxProblem(error)
      }
      // libxml2 tolerates namespace errors, but then reads other names than the sender meant.
      if (document.errors[0]) throw syntaxProblem(document.errors[0])
      if (document.getDtd()) throw new Problem('forbidden-xml', 'The document has a DOCTYPE, which is not accepted.')
      if (isSmall(parsed.tags)) documents.set(parsed, document)
      return parsed
    },

    validateTogether(guarded, xsd, roots) {
      let left = guarded.filter(
        ({ source, tags }) => isSmall(tags) && roots.includes(tags[0]?.name ?? '') && countLineFeeds(source) < maxLines
      )
      for (let attempt = 0; left.length > 1 && attempt < mostAttempts; attempt++) {
        const batch = join(left.map(({ source }) => source))
        const lines = errorLines(batch.xml, schemaOf(xsd, roots, batch.size))
        if (!lines) {
          for (const one of left) validTogether.add(one)
          return
        }
        const refused = new Set(lines.map((line) => batch.documentAt(line)))
        const others = left.filter((_, i) => !refused.has(i))
        if (others.length === left.length) return
        left = others
      }
    },

    isValid(source, xsd, root) {
      return parseWithRoom(Buffer.from(source)).validate(schemaOf(xsd, [root]))
    },

    validate(parsed, xsd, roots, spell = asTag) {
      if (validTogether.has(parsed)) return []
      const schema = schemaOf(xsd, roots)
      const [root] = parsed.tags
      if (!root) throw new Error('a parsed document has a root element')
      if (!roots.includes(root.name)) return [{ detail: explainRoot(root.name, roots, spell), line: root.line, path: `/${root.name}` }]
      const isValid = () => (documents.get(parsed) ?? parseWithRoom(Buffer.from(parsed.source))).validate(schema)
      if (isSmall(parsed.tags) && isValid()) return []
      const validateValues = (xml: string) => {
        const part = parseWithRoom(Buffer.from(xml))
        part.validate(schemaOf(xsd, roots, 'values'))
        return part.validationErrors
      }
      const faults = faultsOf(parsed, { vocabulary: xsd.vocabulary, roots, spell, validateValues })
      if (faults.length > 0 || (!isSmall(parsed.tags) && isValid())) return faults
      return [{ detail: `${spell(root.name)} does not match its schema.`, line: root.line, path: `/${root.name}` }]
    }
  }
}
