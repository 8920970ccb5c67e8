/** The date with which a date, or a date and time such as `2026-04-25T12:00:00+02:00`, begins. Undefined: the text begins with none. */
export function dateIn(text: string): string | undefined {
  return /^\d{4}-\d\d-\d\d(?!\d)/.exec(text)?.[0]
}
