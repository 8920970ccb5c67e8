// Keeps a new order while its form is filled in, and restores it when the form opens again: a person who looks for another
// product meanwhile loses nothing.

import { fieldsBesideLines, fieldsIn, filledLines, isStored, readDraft, removeDraft, storeDraft } from './order-draft.js'
import { clearErrors, make } from './order-errors.js'
import { fillLines } from './order-lines.js'

/** Whether the order was sent and may have arrived. Restored later, with another idempotency key, it could be placed twice. */
let isSent = false

/** Keeps the order again after the shop has refused it. */
export function keepRefused(form) {
  isSent = false
  storeDraft(form)
}

function fillFields(form, texts) {
  for (const field of fieldsBesideLines(form)) field.value = texts[field.name] ?? ''
  for (const section of form.querySelectorAll('details')) section.open = fieldsIn(section).some(({ value }) => value !== '')
}

/**
 * The fields of the draft. A party of which it has nothing is the one that the page came with, of an order whose products are ordered again.
 * What a browser that goes back has filled in by itself does not count.
 */
function withParties(form, fields) {
  const isOpen = (name) => !Object.keys(fields).some((own) => own.split('.')[0] === name.split('.')[0])
  const given = fieldsBesideLines(form).filter(({ name, defaultValue }) => defaultValue !== '' && isOpen(name))
  return { ...fields, ...Object.fromEntries(given.map(({ name, defaultValue }) => [name, defaultValue])) }
}

const hasNote = (line) => Object.keys(line).some((name) => name.startsWith('note.'))

/**
 * Adds the products of the page's URI to the lines. A product that has a line keeps it, and its quantity. A line with a note
 * does not count, because the note may be about this quantity only.
 * @returns all lines, and the position of each of the products
 */
function addProducts(lines, chosen) {
  const all = lines.map((line) => ({ ...line }))
  const places = chosen.map((one) => {
    const own = lines.findIndex((line) => line['product-id']?.trim() === one['product-id'] && !hasNote(line))
    if (own === -1) return all.push(one) - 1
    all[own].quantity ??= one.quantity ?? ''
    return own
  })
  return { all, places }
}

/** Says what became of the products of the page's URI. */
function describe(chosen, places, count) {
  const added = places.filter((place) => place >= count).length
  if (chosen.length === 1) return `${chosen[0]['product-id']} ${added === 1 ? 'was added in' : 'was already in'} line ${places[0] + 1}.`
  const present = chosen.length - added
  return [
    ...(added > 0 ? [`${added} ${added === 1 ? 'line was' : 'lines were'} added.`] : []),
    ...(present > 0
      ? [`${present} of the products that you chose ${present === 1 ? 'was' : 'were'} already in it: check the quantities.`]
      : [])
  ].join(' ')
}

function startAgain(form, notice) {
  clearErrors(form)
  fillLines([])
  fillFields(form, {})
  isSent = false
  // Other parts of the page follow what is typed, and so does the draft: a blank form has none.
  form.dispatchEvent(new Event('input'))
  notice.querySelector('[role=status]').replaceChildren(make('p', {}, 'The form is blank again.'))
  notice.querySelector('button').remove()
  form.querySelector('.lines input').focus()
}

function showNotice(form, notice, detail) {
  const title = make('p', {}, make('strong', {}, 'Your order in progress was restored.'))
  notice.className = 'notice restored'
  notice.querySelector('[role=status]').append(title, ...(detail ? [make('p', {}, detail)] : []))
  const button = make('button', { type: 'button', className: 'quiet small' }, 'Start again')
  button.addEventListener('click', () => startAgain(form, notice))
  notice.append(button)
}

/** Puts the draft into a form that has only what its URI names, and adds this. */
function restore(form, notice) {
  const chosen = filledLines(form)
  const draft = readDraft(form)
  if (draft) {
    const { all, places } = addProducts(draft.lines, chosen)
    fillLines(all)
    fillFields(form, withParties(form, draft.fields))
    showNotice(form, notice, describe(chosen, places, draft.lines.length))
    if (places.length > 0) form.querySelectorAll('.lines > li')[places[0]].querySelector('[name$=".quantity"]').focus()
  }
  // A browser that goes back may have filled some fields by itself. They are kept when somebody edits them.
  if (!draft && chosen.length === 0) return
  // The products are in the draft now. Loading the page again must not add one that was removed since.
  if (storeDraft(form) && location.search !== '') history.replaceState(history.state, '', form.action)
}

export function startDraft(form) {
  // The service has filled in a form without this notice, from what was sent. That is the draft now.
  const notice = document.getElementById('restored')
  if (notice) restore(form, notice)
  else storeDraft(form)

  const keep = () => isSent || storeDraft(form)
  form.addEventListener('input', keep)
  form.addEventListener('change', keep)
  form.addEventListener('submit', ({ submitter }) => {
    // The order is only checked.
    if (submitter?.hasAttribute('formaction')) return
    isSent = true
    removeDraft(form)
  })
  // A browser may go back to the page as it was left. Its draft may have more lines by now.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && notice && !isSent && !isStored(form)) location.reload()
  })
}
