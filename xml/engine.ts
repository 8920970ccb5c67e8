/** libxml2's schema errors: what this service knows of their numbers and messages, in one place. */

/** As libxmljs2 reports it. */
export interface EngineError {
  readonly code?: number | null
  readonly line?: number | null
  readonly message: string
  readonly str1?: string | null
}

/** libxml2's numbers (xmlerror.h) for the errors that its messages are read for. */
export const codes = {
  attributeOfSimple: 1827,
  simpleContent: 1828,
  minLength: 1831,
  maxLength: 1832,
  emptyContent: 1841,
  elementOnly: 1843,
  noRoot: 1845,
  notNillable: 1847,
  unknownType: 1851,
  otherType: 1852,
  attributeNotAllowed: 1866,
  attributeMissing: 1868,
  unexpected: 1871
}

/** How many names it lists at most of those that it expects. */
export const maxExpected = 10

/** The elements that could have been where the error is. */
export function expectedIn({ message }: EngineError): readonly string[] {
  const names = /Expected is (?:one of )?\( (.*) \)/.exec(message)?.[1]?.split(', ') ?? []
  return names.map((name) => name.replace(/^\{.*\}/, ''))
}

/** The attribute whose value the error is about. */
export function attributeOf({ message }: EngineError): string | undefined {
  return /^Element '[^']*', attribute '([^']*)'/.exec(message)?.[1]
}

/** The value that was refused: beside the message, in which it could be mistaken for other words. */
export function refusedValue({ message, str1 }: EngineError): string {
  return str1 ?? /(?:The value |: )'(.*)' (?:is not|must be|has|does)/s.exec(message)?.[1] ?? ''
}

export function lengthOf({ message }: EngineError): string {
  return /length of '(\d+)'/.exec(message)?.[1] ?? 'too many'
}

export function isInNamespace({ message }: EngineError): boolean {
  return message.startsWith("Element '{")
}

export function isOfMissing({ code, message }: EngineError): boolean {
  return code === codes.unexpected && message.includes('Missing child')
}

/** Whether it is about an element that was not expected where it stands. */
export function isOfPosition(error: EngineError): boolean {
  return error.code === codes.unexpected && !isOfMissing(error)
}

/** Whether it is about what is, or is not, between an element's tags: another error if that is cut off. */
export function isOfContent(error: EngineError): boolean {
  if (error.code === codes.unexpected) return isOfMissing(error)
  return attributeOf(error) === undefined && error.code !== codes.attributeMissing && error.code !== codes.noRoot
}
