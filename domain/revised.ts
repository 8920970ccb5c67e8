/** A resource that has versions. Its time is in milliseconds since the epoch. */
export interface Versioned {
  readonly version: number
  readonly modifiedAt: number
}

/** The version and time of a resource's next state. The time never goes back. @param now milliseconds since the epoch */
export function revised({ version, modifiedAt }: Versioned, now: number): Versioned {
  return { version: version + 1, modifiedAt: Math.max(now, modifiedAt) }
}
