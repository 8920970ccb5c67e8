import { splitField } from './accept.ts'

export type PreferredReturn = 'minimal' | 'representation'
export type PreferredHandling = 'strict' | 'lenient'

/** Seconds that a request may be held. */
export const longestPreferredWait = 60

/** The value of the first preference of a name (RFC 7240 section 2), in lower case. Later ones of the same name are ignored. */
function parsePreference(header: string, name: string): string | undefined {
  const pattern = new RegExp(`^${name}\\s*=\\s*("?)(.*)\\1$`, 'i')
  for (const preference of splitField(header, ',')) {
    const found = pattern.exec(splitField(preference, ';')[0] ?? '')?.[2]?.toLowerCase()
    if (found !== undefined) return found
  }
  return undefined
}

/** Parses the `return` preference (RFC 7240 section 4.2). If its value is unknown, it is ignored. */
export function parseReturn(header: string): PreferredReturn | undefined {
  const found = parsePreference(header, 'return')
  return found === 'minimal' || found === 'representation' ? found : undefined
}

/** Parses the `handling` preference: all or nothing, or what is available (RFC 7240 section 4.4). If its value is unknown, it is ignored. */
export function parseHandling(header: string): PreferredHandling | undefined {
  const found = parsePreference(header, 'handling')
  return found === 'strict' || found === 'lenient' ? found : undefined
}

/** Parses the `wait` preference (RFC 7240 section 4.3), in seconds: at most `longestPreferredWait`. */
export function parseWait(header: string): number | undefined {
  const found = parsePreference(header, 'wait')
  return found !== undefined && /^\d{1,9}$/.test(found) ? Math.min(Number(found), longestPreferredWait) : undefined
}
