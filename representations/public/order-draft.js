// A draft is a new order that somebody has begun and not sent. It is kept in the session storage of the tab, which the browser
// empties when the tab closes. No draft is ever sent to the service.

/** A form with other names of fields gets another number here, so that older drafts are ignored. */
const version = 1

/** A draft with more lines is not kept, because the page would freeze while it adds them. */
const mostLines = 1000

/** Shops on one host differ in their base paths, and so in the addresses of their forms. */
const keyOf = (form) => `tradepost-draft:${form.getAttribute('action')}`

/** The customer who uses the form; empty for a guest. */
const customerOf = (form) => form.elements.namedItem('_customer')?.value ?? ''

/** The fields that a person fills in. */
export const fieldsIn = (parent) => [...parent.querySelectorAll(':is(input, textarea)[name]:not([type=hidden], [name^="_"])')]

/** The fields that a person fills in, without those of lines. */
export const fieldsBesideLines = (form) => fieldsIn(form).filter((field) => !field.closest('.lines'))

/** The name of a field within its line: `quantity` for `item.3.quantity`. */
export const nameInLine = ({ name }) => name.replace(/^item\.\d+\./, '')

function textsOf(fields, nameOf) {
  return Object.fromEntries(fields.filter(({ value }) => value.trim() !== '').map((field) => [nameOf(field), field.value]))
}

const isFilled = (texts) => Object.keys(texts).length > 0

/** The lines of a form that are not blank. Each is an object with the texts of its fields. */
export const filledLines = (form) =>
  [...form.querySelectorAll('.lines > li')].map((line) => textsOf(fieldsIn(line), nameInLine)).filter(isFilled)

/** @returns what is stored for the form; null for a blank form, as the storage has it */
function makeDraft(form) {
  const lines = filledLines(form)
  const fields = textsOf(fieldsBesideLines(form), ({ name }) => name)
  if (lines.length > mostLines || (lines.length === 0 && !isFilled(fields))) return null
  return JSON.stringify({ version, customer: customerOf(form), lines, fields })
}

const hasTexts = (found) => typeof found === 'object' && found !== null && Object.values(found).every((text) => typeof text === 'string')

function isDraft(found) {
  if (found?.version !== version || !Array.isArray(found.lines) || found.lines.length > mostLines) return false
  return [found.fields, ...found.lines].every(hasTexts)
}

export function removeDraft(form) {
  try {
    sessionStorage.removeItem(keyOf(form))
  } catch {
    // A browser can be set to store nothing.
  }
}

/** Keeps what the form has, in place of what was kept. @returns whether it is kept now */
export function storeDraft(form) {
  const draft = makeDraft(form)
  try {
    if (draft !== null) {
      sessionStorage.setItem(keyOf(form), draft)
      return true
    }
  } catch {
    // The storage is off, or full. An older draft would lack what was typed since.
  }
  removeDraft(form)
  return false
}

/**
 * The draft of whoever uses the form. What a guest has begun goes on when they sign in. The draft of another customer, or of one
 * who has signed out, is removed.
 */
export function readDraft(form) {
  try {
    const found = JSON.parse(sessionStorage.getItem(keyOf(form)))
    if (isDraft(found) && ['', customerOf(form)].includes(found.customer)) return found
  } catch {
    // The storage is off, or something else was stored.
  }
  removeDraft(form)
  return undefined
}

/** Whether the draft is what the form has. True if there is no storage. */
export function isStored(form) {
  try {
    return sessionStorage.getItem(keyOf(form)) === makeDraft(form)
  } catch {
    return true
  }
}
