/** The properties that may be undefined are optional. */
type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>
}

/** A value without the properties that are undefined, which `exactOptionalPropertyTypes` refuses. */
export function defined<T extends object>(value: T): Defined<T> {
  const found: Record<string, unknown> = {}
  for (const name in value) if (value[name] !== undefined) found[name] = value[name]
  return found as Defined<T>
}
