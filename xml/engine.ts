// The only file that depends on libxml2's error numbers and on the wording of its messages.

/** A schema error as libxmljs2 reports it. */
export interface EngineError {
  readonly code?: number | null
  readonly line?: number | null
  readonly message: string
  readonly str1?: string | null
}

/** Error numbers of libxml2 (xmlerror.h). */
export const codes = {
  attributeOfSimple: 1827,
  minLength: 1831,
  maxLength: 1832,
  emptyContent: 1841,
  elementOnly: 1843,
  noRoot: 1845,
  notNillable: 1847,
  unknownType: 1851,
  otherType: 1852,
  attributeNotAllowed: 1866,
  attributeMissing: 1868
}

/** The attribute whose value is wrong, if the error is about an attribute's value. */
export function attributeOf({ message }: EngineError): string | undefined {
  return /^Element '[^']*', attribute '([^']*)'/.exec(message)?.[1]
}

/** The invalid value. `str1` is preferred, because a value inside the message is ambiguous. */
export function refusedValue({ message, str1 }: EngineError): string {
  return str1 ?? /(?:The value |: )'(.*)' (?:is not|must be|has|does)/s.exec(message)?.[1] ?? ''
}

export function lengthOf({ message }: EngineError): string {
  return /length of '(\d+)'/.exec(message)?.[1] ?? 'too many'
}

export function isInNamespace({ message }: EngineError): boolean {
  return message.startsWith("Element '{")
}

/** Errors that have nothing to do with which elements an element contains. */
const independent: readonly (number | null | undefined)[] = [codes.attributeMissing, codes.noRoot, codes.elementOnly]

/** Whether the error is about an element's content. Such an error is unreliable while the content is incomplete. */
export function isContentError(error: EngineError): boolean {
  return attributeOf(error) === undefined && !independent.includes(error.code)
}
