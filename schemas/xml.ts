import { XMLParser } from 'fast-xml-parser'
import type { Element } from './element.ts'

const nothing = () => undefined
const noSteps = { reset: nothing, setXmlVersion: nothing, setExternalEntities: nothing, addInputEntities: nothing }

/**
 * Reads validated XML into elements. fast-xml-parser must not coerce values. Its entity handling is off, because it leaves
 * character references undecoded; without a DOCTYPE there are only those and the five predefined entities.
 */
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: '#cdata',
  maxNestedTags: 256,
  // Without paths as text, which nothing here asks for, it takes a seventh less time.
  jPath: false,
  // Nothing here needs these steps. Without them it takes up to a fifth less time.
  entityDecoder: { ...noSteps, decode: (text) => text },
  tagValueProcessor: nothing,
  attributeValueProcessor: nothing
})

/**
 * fast-xml-parser reads a quote in a processing instruction as the start of a value and skips everything up to the next
 * quote, even elements that libxml2 has validated. So processing instructions are removed first, and comments with them.
 */
const notContent = /<!\[CDATA\[.*?\]\]>|<!--.*?-->|<\?.*?\?>/gs

/**
 * Line ends are normalised first (XML 1.0 section 2.11): a CR and an LF on either side of a comment are two line ends. Most
 * documents have neither CRs nor anything to remove.
 */
function contentOnly(xml: string): string {
  const lines = xml.includes('\r') ? xml.replace(/\r\n?/g, '\n') : xml
  const from = lines.startsWith('<?xml ') ? lines.indexOf('?>') + 2 : 0
  if (!lines.includes('<!', from) && !lines.includes('<?', from)) return from === 0 ? lines : lines.slice(from)
  return lines.replace(notContent, (section) => (section.startsWith('<![') ? section : ''))
}

type Node = { readonly ':@'?: Readonly<Record<string, string>>; readonly '#text'?: string } & Readonly<Record<string, unknown>>

/**
 * @param xml a well-formed document without DOCTYPE, already checked by the XML guard
 * @throws Error when there is no root element
 */
export function readXml(xml: string): Element {
  const source = xml.charCodeAt(0) === 0xfeff ? xml.slice(1) : xml
  const root = (parser.parse(contentOnly(source)) as Node[]).find((node) => nameOf(node) !== '#text')
  if (!root) throw new Error('no root element')
  return toElement(root)
}

function nameOf(node: Node): string {
  for (const key in node) if (key !== ':@') return key
  return '#text'
}

function toElement(node: Node): Element {
  const name = nameOf(node)
  let children: Element[] | undefined
  let text = ''
  for (const part of node[name] as readonly Node[]) {
    const kind = nameOf(part)
    if (kind === '#text') text += dereference(String(part['#text']))
    else if (kind === '#cdata') text += (part['#cdata'] as readonly Node[]).map((piece) => String(piece['#text'] ?? '')).join('')
    else if (children) children.push(toElement(part))
    else children = [toElement(part)]
  }
  const attributes = readAttributes(node[':@'])
  if (children) return attributes ? { name, attributes, children } : { name, children }
  return attributes ? { name, attributes, text } : { name, text }
}

/** Namespace declarations are not attributes of the element (Namespaces in XML, section 3). */
function readAttributes(raw: Node[':@']): Element['attributes'] {
  if (!raw) return undefined
  const attributes = Object.entries(raw)
    .filter(([name]) => !/^xmlns(?::|$)/.test(name))
    .map(([name, value]): [string, string] => [name, dereference(normalise(value))])
  return attributes.length > 0 ? Object.fromEntries(attributes) : undefined
}

/** Attribute-value normalisation (XML 1.0 section 3.3.3): white space becomes a space, unless it is a character reference. */
function normalise(value: string): string {
  return value.replace(/[\t\n\r]/g, ' ')
}

const predefined: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function dereference(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#([0-9]+)|([a-z]+));/g, (whole, hex?: string, dec?: string, name?: string) => {
    if (name !== undefined) return predefined[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number.parseInt(dec ?? '', 10) : Number.parseInt(hex, 16))
  })
}

export const xmlDeclaration = '<?xml version="1.0" encoding="UTF-8"?>\n'

/** Characters that some text or attribute must escape. Most values have none, and to replace nothing takes longer than to look. */
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

/** Writes an element and its descendants, indented, without an XML declaration. It appends to one string: joining arrays takes longer. */
export function writeElement({ name, attributes, text, children }: Element, indent = ''): string {
  const open = attributes ? `${indent}<${name}${writeAttributes(attributes)}` : `${indent}<${name}`
  if (children && children.length > 0) {
    const inner = `${indent}  `
    let content = ''
    for (const child of children) content += `${writeElement(child, inner)}\n`
    return `${open}>\n${content}${indent}</${name}>`
  }
  if (text) return `${open}>${escapeText(text)}</${name}>`
  return `${open}/>`
}

/** Writes an XML document. */
export function writeXml(root: Element): string {
  return `${xmlDeclaration}${writeElement(root)}\n`
}
