import { XMLParser } from 'fast-xml-parser'
import type { Element } from './element.ts'
import { ElementBuilder } from './element-builder.ts'

const builder = new ElementBuilder()

/**
 * Reads validated XML. fast-xml-parser must not coerce values. It must not decode references either, because it would leave some
 * undecoded: those to characters. Without a DOCTYPE there are only these and the five predefined entities.
 */
const parser = new XMLParser({
  ...builder.callbacks,
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: 256,
  // Nothing here needs paths as text. Without them the parser takes a seventh less time.
  jPath: false
})

/**
 * fast-xml-parser reads a quote in a processing instruction as the start of a value and skips everything up to the next
 * quote, even elements that libxml2 has validated. So processing instructions are removed first, and comments with them.
 */
const notContent = /<!\[CDATA\[.*?\]\]>|<!--.*?-->|<\?.*?\?>/gs

/**
 * Line ends are normalised first (XML 1.0 section 2.11): a CR and an LF on either side of a comment are two line ends, and would be
 * one after the comment is removed. Most documents have neither CRs nor anything to remove.
 */
function contentOnly(xml: string): string {
  const lines = xml.includes('\r') ? xml.replace(/\r\n?/g, '\n') : xml
  const from = lines.startsWith('<?xml ') ? lines.indexOf('?>') + 2 : 0
  if (!lines.includes('<!', from) && !lines.includes('<?', from)) return from === 0 ? lines : lines.slice(from)
  return lines.replace(notContent, (section) => (section.startsWith('<![') ? section : ''))
}

/**
 * @param xml a well-formed document without DOCTYPE, already checked by the XML guard
 * @throws Error when there is no root element
 */
export function readXml(xml: string): Element {
  const source = xml.charCodeAt(0) === 0xfeff ? xml.slice(1) : xml
  let root: Element | undefined
  try {
    parser.parse(contentOnly(source))
  } finally {
    root = builder.end()
  }
  if (!root) throw new Error('no root element')
  return root
}

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** Characters that some text or attribute must escape. Most values have none, and this test is faster than a replace that finds nothing. */
const special = /[&<>"\t\n\r]/

/** Escapes element content. A carriage return becomes a reference, since a parser turns a literal one into a line feed (XML 1.0 section 2.11). */
function escapeText(text: string): string {
  if (!special.test(text)) return text
  return text.replace(/[&<>\r]/g, (c) => (c === '&' ? '&amp;' : c === '<' ? '&lt;' : c === '>' ? '&gt;' : '&#13;'))
}

const attributeEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeAttribute(text: string): string {
  if (!special.test(text)) return text
  return text.replace(/[&<>"\t\n\r]/g, (c) => attributeEscapes[c] ?? `&#${c.charCodeAt(0)};`)
}

function writeAttributes(attributes: Readonly<Record<string, string>>): string {
  let written = ''
  for (const name of Object.keys(attributes)) written += ` ${name}="${escapeAttribute(attributes[name] ?? '')}"`
  return written
}

/**
 * Writes an element and its descendants, indented, without an XML declaration. It appends to one string: joining arrays takes longer.
 * @param first the first children, which are written already, each on lines of its own
 */
export function writeElement({ name, attributes, text, children }: Element, indent = '', first = ''): string {
  const open = attributes ? `${indent}<${name}${writeAttributes(attributes)}` : `${indent}<${name}`
  if (first !== '' || (children && children.length > 0)) {
    const inner = `${indent}  `
    let content = first
    if (children) for (const child of children) content += `${writeElement(child, inner)}\n`
    return `${open}>\n${content}${indent}</${name}>`
  }
  if (text) return `${open}>${escapeText(text)}</${name}>`
  return `${open}/>`
}

/** Writes an XML document. @param first the first children of the root, which are written already, each on lines of its own */
export function writeXml(root: Element, first = ''): string {
  return `${xmlDeclaration}${writeElement(root, '', first)}\n`
}

/**
 * Writes an XML document that is only validated. Each element begins on a line of its own, because libxml2 names only the line in its
 * errors. There is no white space between elements: libxml2 would make a node of each, which would take half as much memory again.
 */
export function writeLines({ name, attributes, text, children = [] }: Element): string {
  let content = text ? escapeText(text) : ''
  for (const child of children) content += writeLines(child)
  const open = `<${name}${attributes ? writeAttributes(attributes) : ''}\n`
  return content === '' ? `${open}/>` : `${open}>${content}</${name}>`
}
