import { afterSection, match } from '../../xml/tag-syntax.ts'

/** The root's start tag must begin within this many bytes. It bounds the time for documents that are only prolog. */
const maxProlog = 16 * 1024

const byteOrderMark = '\u00ef\u00bb\u00bf'

const space = /[ \t\r\n]*/y
const cxmlDoctype = /<!DOCTYPE[ \t\r\n]+cXML[ \t\r\n]+SYSTEM[ \t\r\n]+(?:"[ !#-%'-;=?-~]{1,256}"|'[ -%(-;=?-~]{1,256}')[ \t\r\n]*>/y
const cxmlStartTag = /<cXML[ \t\r\n/>]/y

/**
 * Overwrites the DOCTYPE of a cXML document with spaces, so that the guard accepts the document and line numbers stay correct. It
 * does so only for one DOCTYPE that names a DTD by a SYSTEM literal and has no internal subset. The DTD is never fetched. Every
 * other document is returned unchanged, and the guard refuses its DOCTYPE.
 * @returns the DOCTYPE as it was sent, if it is overwritten
 */
export function blankDoctype(bytes: Buffer): { readonly bytes: Buffer; readonly doctype?: string } {
  // In latin1 each byte is one character, so offsets in the text are offsets in the bytes.
  const prolog = bytes.toString('latin1', 0, maxProlog)
  const start = skipMisc(prolog, prolog.startsWith(byteOrderMark) ? byteOrderMark.length : 0)
  const doctype = match(cxmlDoctype, prolog, start)?.[0]
  if (doctype === undefined || !match(cxmlStartTag, prolog, skipMisc(prolog, start + doctype.length))) return { bytes }
  const blanked = Buffer.from(bytes)
  blanked.write(doctype.replace(/[^\r\n]/g, ' '), start, 'latin1')
  return { bytes: blanked, doctype }
}

/** The offset after white space, comments, the XML declaration and processing instructions (XML 1.0, production 27). */
function skipMisc(prolog: string, from: number): number {
  for (let at = from; ; ) {
    at += match(space, prolog, at)?.[0].length ?? 0
    const next = afterSection(prolog, at)
    if (next === undefined) return at
    at = next
  }
}

/** A declaration up to the next `<` or `>` outside quotes. */
const declaration = /<!(?:[^"'<>]|"[^"]*"|'[^']*')*/y
const firstName = /<([A-Za-z_:\x80-\xff][\w:.\x80-\xff-]*)/y

/**
 * The name of a document's first start tag. It is found even if the guard refuses the document (malformed, with a DOCTYPE, or in
 * UTF-16), because it decides the vocabulary of that refusal.
 */
export function firstTagName(bytes: Buffer): string | undefined {
  const prolog = bytes
    .toString('latin1', 0, 2 * maxProlog)
    .replaceAll('\0', '')
    .slice(0, maxProlog)
  for (let at = prolog.indexOf('<'); at >= 0; at = prolog.indexOf('<', at)) {
    const name = match(firstName, prolog, at)?.[1]
    if (name !== undefined) return name
    at = afterSection(prolog, at) ?? at + Math.max(1, match(declaration, prolog, at)?.[0].length ?? 0)
  }
  return undefined
}

export function startsAsCxml(bytes: Buffer): boolean {
  return firstTagName(bytes) === 'cXML'
}
