interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly readOnly?: boolean
  readonly xml?: { readonly name?: string; readonly attribute?: boolean; readonly 'x-text'?: boolean }
}

/** A row in the table of a document's elements and attributes. */
export interface DocumentField {
  /** The XPath from the root element. */
  readonly path: string
  readonly occurs: string
  readonly text: string
}

function occurs(isRequired: boolean, member: Schema): string {
  if (member.items) return `${isRequired ? 1 : 0}–${member.maxItems ?? 'n'}`
  return isRequired ? '1' : '0–1'
}

function textOf({ description, enum: values, maxLength }: Schema): string {
  const limits = values ? `One of ${values.join(', ')}.` : maxLength && !description ? `Up to ${maxLength} characters.` : ''
  return [description, limits].filter((part) => part).join(' ')
}

/** The fields of a request document. Fields that the server ignores are left out. */
export function documentFields(schemas: Readonly<Record<string, object>>, component: string): readonly DocumentField[] {
  const described = new Set<string>()

  const resolve = (schema: Schema): Schema => {
    const name = schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1)
    return name === undefined ? schema : { ...(schemas[name] as Schema), ...schema }
  }

  /** The parts of a party or an address are the same everywhere, so they are listed once. */
  const isRepeated = ({ $ref }: Schema): boolean => {
    if ($ref === undefined) return false
    const again = described.has($ref)
    described.add($ref)
    return again
  }

  const field = (key: string, value: Schema, isRequired: boolean, path: string): readonly DocumentField[] => {
    const member = resolve(value)
    if (member.readOnly || member.xml?.['x-text']) return []
    const one = member.items ? resolve(member.items) : member
    const name = `${path}${member.xml?.attribute ? '@' : ''}${one.xml?.name ?? member.xml?.name ?? key}`
    const repeated = isRepeated(value)
    const row = { path: name, occurs: occurs(isRequired, member), text: repeated ? 'As above.' : textOf(one) }
    const parts = one.oneOf?.find(({ properties }) => properties) ?? one
    return [row, ...(repeated ? [] : fields(parts, `${name}/`))]
  }

  const fields = ({ properties = {}, required = [] }: Schema, path: string): readonly DocumentField[] =>
    Object.entries(properties).flatMap(([key, value]) => field(key, value, required.includes(key), path))

  return fields((schemas[component] ?? {}) as Schema, '')
}
